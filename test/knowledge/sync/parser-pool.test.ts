import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { generatePassages, type Passage } from '../../../daemon/knowledge/chunking/chunk-document.ts'
import type { ChunkingSettings } from '../../../daemon/knowledge/chunking/chunking-settings.ts'
import { DocumentReadError } from '../../../daemon/knowledge/readers/parsed-document.ts'
import { readDocument } from '../../../daemon/knowledge/readers/read-document.ts'
import { ParserPool } from '../../../daemon/knowledge/sync/parser-pool.ts'
import { waitFor } from '../../harness/wait-for.ts'

const countThreads = () => (process.report.getReport() as { workers: unknown[] }).workers.length
const test = suite('parser pool')
const encode = (text: string) => new Uint8Array(Buffer.from(text))
const sections = (count: number) =>
  Array.from({ length: count }, (_, index) => `## Part ${index}\n\n${'Some words about it. '.repeat(30)}`).join('\n\n')
/** A page that takes seconds and much memory to read. */
const createHeavyPage = () => encode(`<html><body>${'<i class="a" id="b">x</i>'.repeat(400_000)}`)

/** Returns the pages and the passages of each setting. */
async function parse(pool: ParserPool, bytes: Uint8Array, name: string, settings: ChunkingSettings[], signal?: AbortSignal) {
  const passages: Passage[][] = settings.map(() => [])
  const collect = async (setting: number, batch: Passage[]) => void passages[setting]?.push(...batch)
  return { pages: await pool.parse(bytes, name, settings, collect, signal), passages }
}

/** Returns the first passage, which is the whole text of a short document. */
async function readText(pool: ParserPool, bytes: Uint8Array, name: string, signal?: AbortSignal): Promise<string | undefined> {
  const { passages } = await parse(pool, bytes, name, [{ size: 800, overlap: 0 }], signal)
  return passages[0]?.[0]?.content
}

async function getError(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('The document was read.')
}

async function withPool(options: ConstructorParameters<typeof ParserPool>[0], run: (pool: ParserPool) => Promise<void>): Promise<void> {
  const pool = new ParserPool(options)
  try {
    await run(pool)
  } finally {
    await pool.close()
  }
}

test('a parser thread returns the same passages as the main thread', async () => {
  await withPool({}, async (pool) => {
    const text = sections(3_000)
    const settings = [
      { size: 800, overlap: 120 },
      { size: 200, overlap: 0 },
    ]
    const document = await readDocument(encode(text), 'a.md')
    const result = await parse(pool, encode(text), 'a.md', settings)
    assert.is(result.pages, null)
    assert.equal(
      result.passages,
      settings.map((setting) => [...generatePassages(document, setting)]),
    )
  })
})

test('the next passages are requested when the last ones were handled, and an error there ends the document', async () => {
  await withPool({ threads: 1 }, async (pool) => {
    let [running, calls] = [0, 0]
    const settings = [{ size: 800, overlap: 0 }]
    const slowly = async () => {
      calls++
      assert.is(++running, 1)
      await new Promise((resolve) => setTimeout(resolve, 30))
      running--
    }
    await pool.parse(encode(sections(3_000)), 'a.md', settings, slowly)
    assert.ok(calls > 3, String(calls))
    const failing = pool.parse(encode(sections(3_000)), 'a.md', settings, () => Promise.reject(new Error('disk')))
    assert.is((await getError(failing)).message, 'disk')
    assert.is(await readText(pool, encode('after'), 'a.txt'), 'after')
  })
})

test('time in which passages are handled does not count as reading', async () => {
  await withPool({ threads: 1, timeoutMs: 2_000 }, async (pool) => {
    await readText(pool, encode('warm'), 'a.txt')
    const handled: unknown[] = []
    await pool.parse(encode('short'), 'a.txt', [{ size: 800, overlap: 0 }], async (passages) => {
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      handled.push(passages)
    })
    assert.ok(handled.length > 0)
  })
})

test('a document of invisible characters is rejected as empty', async () => {
  await withPool({ timeoutMs: 10_000 }, async (pool) => {
    const error = await getError(parse(pool, encode('\u200b\u200b'), 'a.txt', [{ size: 800, overlap: 120 }]))
    assert.is(error.message, 'The document is empty.')
  })
})

test('parsing a large document does not block the event loop', async () => {
  await withPool({ threads: 1 }, async (pool) => {
    await readText(pool, encode('warm'), 'a.txt')
    let last = performance.now()
    const gaps: number[] = []
    const timer = setInterval(() => {
      gaps.push(performance.now() - last)
      last = performance.now()
    }, 5)
    const { passages: chunks } = await parse(pool, encode(sections(10_000)), 'a.md', [{ size: 800, overlap: 120 }])
    clearInterval(timer)
    assert.ok((chunks[0]?.length ?? 0) >= 8_000)
    // A single long pause may be caused by the machine.
    assert.ok(gaps.filter((gap) => gap > 100).length < 3, `${gaps.filter((gap) => gap > 100).map(Math.round)}`)
  })
})

test('the pool parses many documents concurrently', async () => {
  await withPool({ threads: 2 }, async (pool) => {
    const texts = await Promise.all(Array.from({ length: 20 }, (_, index) => readText(pool, encode(`Text ${index}.`), 'a.txt')))
    assert.equal(
      texts,
      Array.from({ length: 20 }, (_, index) => `Text ${index}.`),
    )
  })
})

test('a read error of a thread is passed on unchanged', async () => {
  await withPool({}, async (pool) => {
    const error = await getError(readText(pool, new Uint8Array(), 'a.txt'))
    assert.instance(error, DocumentReadError)
    assert.is(error.message, 'The document is empty.')
  })
})

test('the pool continues after a document that exceeds the time limit', async () => {
  await withPool({ threads: 1, timeoutMs: 100 }, async (pool) => {
    const error = await getError(readText(pool, createHeavyPage(), 'a.html'))
    assert.instance(error, DocumentReadError)
    assert.is(error.message, 'Reading took longer than 0.1 s.')
    assert.is(await readText(pool, encode('fine'), 'a.txt'), 'fine')
  })
})

test('the pool continues after a document that exceeds the memory limit', async () => {
  await withPool({ threads: 1, memoryMb: 64 }, async (pool) => {
    const error = await getError(readText(pool, createHeavyPage(), 'a.html'))
    assert.instance(error, DocumentReadError)
    assert.is(error.message, 'Reading needed more memory than 64 MB.')
    assert.is(await readText(pool, encode('fine'), 'a.txt'), 'fine')
  })
})

test('a running and a queued document can be cancelled', async () => {
  await withPool({ threads: 1 }, async (pool) => {
    await readText(pool, encode('warm'), 'a.txt')
    const [first, second] = [new AbortController(), new AbortController()]
    const running = getError(readText(pool, createHeavyPage(), 'a.html', first.signal))
    const waiting = getError(readText(pool, encode('never'), 'a.txt', second.signal))
    const after = readText(pool, encode('fine'), 'a.txt')
    second.abort(new Error('second'))
    assert.is((await waiting).message, 'second')
    first.abort(new Error('first'))
    assert.is((await running).message, 'first')
    assert.is(await after, 'fine')
    assert.is((await getError(readText(pool, encode('x'), 'a.txt', first.signal))).message, 'first')
  })
})

test('the pool copies bytes that are part of a larger buffer', async () => {
  await withPool({}, async (pool) => {
    const buffer = Buffer.from('one two')
    assert.is(await readText(pool, buffer.subarray(0, 3), 'a.txt'), 'one')
    assert.is(buffer.toString(), 'one two')
  })
})

test('closing the pool rejects running and queued documents', async () => {
  const pool = new ParserPool({ threads: 1 })
  const errors = [getError(readText(pool, createHeavyPage(), 'a.html')), getError(readText(pool, encode('x'), 'a.txt'))]
  await pool.close()
  for (const error of await Promise.all(errors)) assert.match(error.message, 'stopping')
  assert.match((await getError(readText(pool, encode('x'), 'a.txt'))).message, 'stopping')
})

test('idle threads end, and new ones start with the next document', async () => {
  await withPool({ idleMs: 20 }, async (pool) => {
    await readText(pool, encode('one'), 'a.txt')
    await waitFor(async () => countThreads() === 0)
    assert.is(await readText(pool, encode('two'), 'a.txt'), 'two')
  })
})

test.run()
