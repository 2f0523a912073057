/** A thread that reads documents and cuts them, one at a time. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { type Chunk, chunkDocument } from '../chunking/chunker.ts'
import { limitAllocations } from '../readers/limit-allocations.ts'
import { EMPTY_DOCUMENT_MESSAGE } from '../readers/parsed-document.ts'
import { type ReadDocument, ReadFailure, readDocument } from '../readers/read-document.ts'
import type { Answer, Question } from './parser-protocol.ts'

/** Characters of chunks in one message: what the event loop takes in within a few milliseconds. */
const MESSAGE = 500_000

class Reader {
  readonly #port: MessagePort
  readonly #forget = limitAllocations()
  #batches: Iterator<Answer> | undefined

  constructor(port: MessagePort) {
    this.#port = port
  }

  async take(question: Question): Promise<void> {
    if (question.kind === 'next') return this.#next()
    this.#forget()
    try {
      const document = await readDocument(question.bytes, question.name)
      if (!question.settings) this.#say({ kind: 'text', document })
      else {
        const chunks = question.settings.map((setting) => chunkDocument(document, setting))
        // Characters that nobody sees are no passage; and who waits for chunks must get some.
        if (chunks.some((list) => list.length === 0)) throw new ReadFailure(EMPTY_DOCUMENT_MESSAGE)
        this.#batches = batches(chunks)
        this.#say({ kind: 'cut', document: described(document) })
      }
    } catch (error) {
      this.#say({ kind: 'failure', reason: reasonOf(error) })
    }
  }

  #next(): void {
    const batch = this.#batches?.next()
    if (batch && !batch.done) this.#say(batch.value)
    else this.#batches = undefined
  }

  #say(answer: Answer): void {
    this.#port.postMessage(answer)
  }
}

function described({ pages, title, text }: ReadDocument) {
  return { pages: pages.length > 0 ? pages.length : null, title, characters: text.length }
}

function* batches(settings: Chunk[][]): Generator<Answer> {
  for (const [setting, chunks] of settings.entries()) {
    let from = 0
    let characters = 0
    for (const [index, { content, words }] of chunks.entries()) {
      characters += content.length + words.length
      if (characters < MESSAGE && index < chunks.length - 1) continue
      yield {
        kind: 'chunks',
        setting,
        chunks: chunks.slice(from, index + 1),
        more: setting < settings.length - 1 || index < chunks.length - 1,
      }
      from = index + 1
      characters = 0
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ReadFailure) return error.message
  if (error instanceof RangeError && /call stack/.test(error.message)) return 'The document is nested too deeply to be read.'
  if (error instanceof RangeError && /Invalid string length/.test(error.message)) return 'The text of the document is too long to be read.'
  return `The document cannot be read; it seems to be damaged (${error instanceof Error ? error.message : String(error)}).`
}

if (!parentPort) throw new Error('This file runs in a worker thread.')
const reader = new Reader(parentPort)
parentPort.on('message', (question: Question) => void reader.take(question))
parentPort.postMessage({ kind: 'ready' } satisfies Answer)
