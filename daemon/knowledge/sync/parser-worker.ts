/** A thread that reads documents and cuts them, one at a time. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { chunkDocument, type Passage } from '../chunking/chunk-document.ts'
import { limitAllocations } from '../readers/limit-allocations.ts'
import { DocumentReadError, EMPTY_DOCUMENT_MESSAGE, type ParsedDocument } from '../readers/parsed-document.ts'
import { readDocument } from '../readers/read-document.ts'
import type { ParserCommand, ParserEvent } from './parser-protocol.ts'

/** Characters of chunks in one message: what the event loop takes in within a few milliseconds. */
const MAX_MESSAGE_CHARACTERS = 500_000

class DocumentParser {
  readonly #port: MessagePort
  readonly #resetAllocations = limitAllocations()
  #batches: Iterator<ParserEvent> | undefined

  constructor(port: MessagePort) {
    this.#port = port
  }

  async handle(question: ParserCommand): Promise<void> {
    if (question.kind === 'next') return this.#sendNextBatch()
    this.#resetAllocations()
    try {
      const document = await readDocument(question.bytes, question.name)
      if (!question.settings) this.#send({ kind: 'text', document })
      else {
        const chunks = question.settings.map((setting) => chunkDocument(document, setting))
        // Characters that nobody sees are no passage; and who waits for chunks must get some.
        if (chunks.some((list) => list.length === 0)) throw new DocumentReadError(EMPTY_DOCUMENT_MESSAGE)
        this.#batches = splitIntoBatches(chunks)
        this.#send({ kind: 'cut', document: summarize(document) })
      }
    } catch (error) {
      this.#send({ kind: 'failure', reason: formatFailure(error) })
    }
  }

  #sendNextBatch(): void {
    const batch = this.#batches?.next()
    if (batch && !batch.done) this.#send(batch.value)
    else this.#batches = undefined
  }

  #send(answer: ParserEvent): void {
    this.#port.postMessage(answer)
  }
}

function summarize({ pages, title, text }: ParsedDocument) {
  return { pages: pages.length > 0 ? pages.length : null, title, characters: text.length }
}

function* splitIntoBatches(settings: Passage[][]): Generator<ParserEvent> {
  for (const [setting, chunks] of settings.entries()) {
    let from = 0
    let characters = 0
    for (const [index, { content, words }] of chunks.entries()) {
      characters += content.length + words.length
      if (characters < MAX_MESSAGE_CHARACTERS && index < chunks.length - 1) continue
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

function formatFailure(error: unknown): string {
  if (error instanceof DocumentReadError) return error.message
  if (error instanceof RangeError && /call stack/.test(error.message)) return 'The document is nested too deeply to be read.'
  if (error instanceof RangeError && /Invalid string length/.test(error.message)) return 'The text of the document is too long to be read.'
  return `The document cannot be read; it seems to be damaged (${error instanceof Error ? error.message : String(error)}).`
}

if (!parentPort) throw new Error('This file runs in a worker thread.')
const parser = new DocumentParser(parentPort)
parentPort.on('message', (question: ParserCommand) => void parser.handle(question))
parentPort.postMessage({ kind: 'ready' } satisfies ParserEvent)
