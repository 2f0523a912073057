/** Documents are read in threads that can be stopped, run out of memory or time, and are replaced. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { chunkDocument } from '../../../daemon/knowledge/chunking/chunk-document.ts'
import { DocumentReadError } from '../../../daemon/knowledge/readers/parsed-document.ts'
import { readDocument } from '../../../daemon/knowledge/readers/read-document.ts'
import { ParserPool } from '../../../daemon/knowledge/sync/parser-pool.ts'

const test = suite('parser pool')
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))
const sections = (count: number) =>
  Array.from({ length: count }, (_, index) => `## Part ${index}\n\n${'Some words about it. '.repeat(30)}`).join('\n\n')
/** A page that takes seconds to read and much memory: every element is one. */
const heavy = () => bytesOf(`<html><body>${'<i class="a" id="b">x</i>'.repeat(400_000)}`)

async function failure(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('It was read.')
}

async function using(options: ConstructorParameters<typeof ParserPool>[0], run: (reading: ParserPool) => Promise<void>): Promise<void> {
  const reading = new ParserPool(options)
  try {
    await run(reading)
  } finally {
    await reading.close()
  }
}

test('a parser thread returns the same text and passages as the main thread', async () => {
  await using({}, async (reading) => {
    const text = sections(3_000)
    const settings = [
      { size: 800, overlap: 120 },
      { size: 200, overlap: 0 },
    ]
    const document = await readDocument(bytesOf(text), 'a.md')
    assert.equal(await reading.read(bytesOf(text), 'a.md'), document)
    const result = await reading.readAndChunk(bytesOf(text), 'a.md', settings)
    assert.equal(result.document, { pages: null, title: 'Part 0', characters: text.length })
    assert.equal(
      result.passages,
      settings.map((setting) => chunkDocument(document, setting)),
    )
  })
})

test('a document of invisible characters is rejected as empty', async () => {
  await using({ timeoutMs: 10_000 }, async (reading) => {
    const error = await failure(reading.readAndChunk(bytesOf('\u200b\u200b'), 'a.txt', [{ size: 800, overlap: 120 }]))
    assert.is(error.message, 'The document is empty.')
  })
})

test('parsing a large document does not block the event loop', async () => {
  await using({ threads: 1 }, async (reading) => {
    await reading.read(bytesOf('warm'), 'a.txt')
    let last = performance.now()
    const gaps: number[] = []
    const timer = setInterval(() => {
      gaps.push(performance.now() - last)
      last = performance.now()
    }, 5)
    const { passages: chunks } = await reading.readAndChunk(bytesOf(sections(10_000)), 'a.md', [{ size: 800, overlap: 120 }])
    clearInterval(timer)
    assert.ok((chunks[0]?.length ?? 0) >= 8_000)
    // A single long pause may be the machine's; several are ours.
    assert.ok(gaps.filter((gap) => gap > 100).length < 3, `${gaps.filter((gap) => gap > 100).map(Math.round)}`)
  })
})

test('the pool parses many documents concurrently', async () => {
  await using({ threads: 2 }, async (reading) => {
    const texts = await Promise.all(Array.from({ length: 20 }, (_, index) => reading.read(bytesOf(`Text ${index}.`), 'a.txt')))
    assert.equal(
      texts.map(({ text }) => text),
      Array.from({ length: 20 }, (_, index) => `Text ${index}.`),
    )
  })
})

test('a read error of a thread is passed on unchanged', async () => {
  await using({}, async (reading) => {
    const error = await failure(reading.read(new Uint8Array(), 'a.txt'))
    assert.instance(error, DocumentReadError)
    assert.is(error.message, 'The document is empty.')
  })
})

test('the pool continues after a document that exceeds the time limit', async () => {
  await using({ threads: 1, timeoutMs: 100 }, async (reading) => {
    const error = await failure(reading.read(heavy(), 'a.html'))
    assert.instance(error, DocumentReadError)
    assert.is(error.message, 'Reading took longer than 0.1 s.')
    assert.is((await reading.read(bytesOf('fine'), 'a.txt')).text, 'fine')
  })
})

test('the pool continues after a document that exceeds the memory limit', async () => {
  await using({ threads: 1, memoryMb: 64 }, async (reading) => {
    const error = await failure(reading.read(heavy(), 'a.html'))
    assert.instance(error, DocumentReadError)
    assert.is(error.message, 'Reading needed more memory than 64 MB.')
    assert.is((await reading.read(bytesOf('fine'), 'a.txt')).text, 'fine')
  })
})

test('a running and a queued document can be cancelled', async () => {
  await using({ threads: 1 }, async (reading) => {
    await reading.read(bytesOf('warm'), 'a.txt')
    const [first, second] = [new AbortController(), new AbortController()]
    const running = failure(reading.read(heavy(), 'a.html', first.signal))
    const waiting = failure(reading.read(bytesOf('never'), 'a.txt', second.signal))
    const after = reading.read(bytesOf('fine'), 'a.txt')
    second.abort(new Error('second'))
    assert.is((await waiting).message, 'second')
    first.abort(new Error('first'))
    assert.is((await running).message, 'first')
    assert.is((await after).text, 'fine')
    assert.is((await failure(reading.read(bytesOf('x'), 'a.txt', first.signal))).message, 'first')
  })
})

test('the pool copies bytes that are part of a larger buffer', async () => {
  await using({}, async (reading) => {
    const buffer = Buffer.from('one two')
    assert.is((await reading.read(buffer.subarray(0, 3), 'a.txt')).text, 'one')
    assert.is(buffer.toString(), 'one two')
  })
})

test('closing the pool rejects running and queued documents', async () => {
  const reading = new ParserPool({ threads: 1 })
  const errors = [failure(reading.read(heavy(), 'a.html')), failure(reading.read(bytesOf('x'), 'a.txt'))]
  await reading.close()
  for (const error of await Promise.all(errors)) assert.match(error.message, 'stopping')
  assert.match((await failure(reading.read(bytesOf('x'), 'a.txt'))).message, 'stopping')
})

test('idle threads end, and new ones start with the next document', async () => {
  await using({ idleMs: 20 }, async (reading) => {
    await reading.read(bytesOf('one'), 'a.txt')
    await new Promise((resolve) => setTimeout(resolve, 200))
    assert.is((await reading.read(bytesOf('two'), 'a.txt')).text, 'two')
  })
})

test.run()
