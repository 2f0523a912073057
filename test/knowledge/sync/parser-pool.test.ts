import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDeferred } from '../../../daemon/async/deferred.ts'
import { generatePassages, type Passage } from '../../../daemon/knowledge/chunking/chunk-document.ts'
import type { ChunkingSettings } from '../../../daemon/knowledge/chunking/chunking-settings.ts'
import { DocumentReadError } from '../../../daemon/knowledge/readers/parsed-document.ts'
import { readDocument } from '../../../daemon/knowledge/readers/read-document.ts'
import { ParserPool } from '../../../daemon/knowledge/sync/parser-pool.ts'
import type { OnPassages } from '../../../daemon/knowledge/sync/parser-task.ts'
import { FakeClock } from '../../webhooks/fake-clock.ts'
import { createInput, DISCARD } from './parser-input.ts'

const test = suite('parser pool')
const encode = (text: string) => new Uint8Array(Buffer.from(text))
const sections = (count: number) =>
  Array.from({ length: count }, (_, index) => `## Part ${index}\n\n${'Some words about it. '.repeat(30)}`).join('\n\n')
/** A page that takes seconds and much memory to read. */
const createHeavyPage = () => encode(`<html><body>${'<i class="a" id="b">x</i>'.repeat(400_000)}`)

/** Returns the pages and the passages of each setting. */
async function parse(pool: ParserPool, bytes: Uint8Array, name: string, settings: ChunkingSettings[], signal?: AbortSignal) {
  const passages: Passage[][] = settings.map(() => [])
  const onPassages = async (setting: number, batch: Passage[]) => void passages[setting]?.push(...batch)
  const onRestart = async () => {
    for (const list of passages) list.length = 0
  }
  const { pages } = await pool.parse(createInput(bytes, name), settings, { onPassages, onRestart }, signal)
  return { pages, passages }
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
  const pool = new ParserPool({ clock: new FakeClock(), ...options })
  try {
    await run(pool)
  } finally {
    await pool.close()
  }
}

test('a parser process returns the same passages as this one', async () => {
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

test('a document of invisible characters is rejected as empty', async () => {
  await withPool({}, async (pool) => {
    const error = await getError(parse(pool, encode('\u200b\u200b'), 'a.txt', [{ size: 800, overlap: 120 }]))
    assert.is(error.message, 'The document is empty.')
  })
})

test('passages arrive in batches that the event loop handles quickly', async () => {
  await withPool({}, async (pool) => {
    const sizes: number[] = []
    const onPassages: OnPassages = async (_, passages) =>
      void sizes.push(passages.reduce((sum, { content, words }) => sum + content.length + words.length, 0))
    await pool.parse(createInput(encode(sections(10_000)), 'a.md'), [{ size: 800, overlap: 120 }], { ...DISCARD, onPassages })
    assert.ok(sizes.length > 10, `${sizes.length} batches`)
    assert.ok(Math.max(...sizes) < 510_000, `${Math.max(...sizes)} characters in a batch`)
  })
})

test('the pool parses many documents concurrently', async () => {
  await withPool({}, async (pool) => {
    const texts = await Promise.all(Array.from({ length: 20 }, (_, index) => readText(pool, encode(`Text ${index}.`), 'a.txt')))
    assert.equal(
      texts,
      Array.from({ length: 20 }, (_, index) => `Text ${index}.`),
    )
  })
})

test('a read error of a process is passed on unchanged', async () => {
  await withPool({}, async (pool) => {
    const error = await getError(readText(pool, new Uint8Array(), 'a.txt'))
    assert.instance(error, DocumentReadError)
    assert.is(error.message, 'The document is empty.')
  })
})

test('the pool continues after a document that exceeds the time limit', async () => {
  const clock = new FakeClock()
  await withPool({ clock }, async (pool) => {
    const reading = getError(readText(pool, createHeavyPage(), 'a.html'))
    await clock.waitForTimers(1)
    clock.advance()
    const error = await reading
    assert.instance(error, DocumentReadError)
    // Tests multiply the limit of 60 s (CADRE_TIMEOUT_FACTOR).
    assert.match(error.message, /^Reading took longer than \d+ s\.$/)
    assert.is(await readText(pool, encode('fine'), 'a.txt'), 'fine')
  })
})

test('the pool continues after a document that exceeds the memory limit', async () => {
  await withPool({ memoryMb: 64 }, async (pool) => {
    const error = await getError(readText(pool, createHeavyPage(), 'a.html'))
    assert.instance(error, DocumentReadError)
    assert.is(error.message, 'Reading needed more memory than 64 MB.')
    assert.is(await readText(pool, encode('fine'), 'a.txt'), 'fine')
  })
})

test('a running and a queued document can be cancelled', async () => {
  await withPool({}, async (pool) => {
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

test('a document can be cancelled while its last passages are handled', async () => {
  await withPool({}, async (pool) => {
    const controller = new AbortController()
    const handled = createDeferred<void>()
    const onPassages = () => {
      controller.abort(new Error('cancelled'))
      return handled.promise
    }
    const handlers = { onPassages, onRestart: async () => {} }
    const parsing = pool.parse(createInput(encode('text'), 'a.txt'), [{ size: 800, overlap: 0 }], handlers, controller.signal)
    assert.is((await getError(parsing)).message, 'cancelled')
    handled.resolve()
  })
})

/** Passages of one character each: 200 KB need more than 100 MB. */
const createManySentences = () => encode('. '.repeat(200_000))

test('a small document that needs much memory is read again by the process for large ones', async () => {
  await withPool({ smallMemoryMb: 16 }, async (pool) => {
    let restarts = 0
    const passages: Passage[] = []
    const handlers = {
      onPassages: async (_: number, batch: Passage[]) => void passages.push(...batch),
      onRestart: async () => {
        restarts++
        passages.length = 0
      },
    }
    const bytes = createManySentences()
    await pool.parse(createInput(bytes, 'a.txt'), [{ size: 800, overlap: 0 }], handlers)
    assert.is(restarts, 1)
    assert.is(passages.at(-1)?.end, bytes.length - 1)
  })
})

test('the bytes of a large document are read when the one before it is done', async () => {
  await withPool({}, async (pool) => {
    const [first, second] = [createDeferred<Uint8Array>(), createDeferred<Uint8Array>()]
    const reads: string[] = []
    const parseOne = (name: string, bytes: Promise<Uint8Array>) => {
      const read = () => {
        reads.push(name)
        return bytes
      }
      return pool.parse({ name, size: 2 * 1024 * 1024, read }, [{ size: 800, overlap: 0 }], DISCARD)
    }
    const parsing = [parseOne('first.txt', first.promise), parseOne('second.txt', second.promise)]
    await setImmediate()
    assert.equal(reads, ['first.txt'])
    first.resolve(encode('one'))
    second.resolve(encode('two'))
    await Promise.all(parsing)
    assert.equal(reads, ['first.txt', 'second.txt'])
  })
})

test('both processes start at once for several small documents', async () => {
  await withPool({}, async (pool) => {
    const names = ['first.txt', 'second.txt', 'third.txt', 'large.txt']
    const reads: string[] = []
    const bytes = createDeferred<Uint8Array>()
    const parsing = names.map((name) => {
      const read = () => {
        reads.push(name)
        return bytes.promise
      }
      return pool.parse({ name, size: name === 'large.txt' ? 2 * 1024 * 1024 : 4, read }, [{ size: 800, overlap: 0 }], DISCARD)
    })
    await setImmediate()
    // The process for large documents has the third one.
    assert.equal(reads, ['first.txt', 'second.txt', 'third.txt'])
    bytes.resolve(encode('text'))
    await Promise.all(parsing)
    assert.equal(reads, names)
  })
})

test('closing the pool rejects running and queued documents', async () => {
  const pool = new ParserPool()
  const errors = [getError(readText(pool, createHeavyPage(), 'a.html')), getError(readText(pool, encode('x'), 'a.txt'))]
  await pool.close()
  for (const error of await Promise.all(errors)) assert.match(error.message, 'stopping')
  assert.match((await getError(readText(pool, encode('x'), 'a.txt'))).message, 'stopping')
})

test.run()
