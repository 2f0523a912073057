/** Worker thread that reads and chunks one document at a time. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { chunkDocument, type Passage } from '../chunking/chunk-document.ts'
import { limitAllocations } from '../readers/limit-allocations.ts'
import { DocumentReadError, EMPTY_DOCUMENT_MESSAGE } from '../readers/parsed-document.ts'
import { readDocument } from '../readers/read-document.ts'
import type { ParserCommand, ParserEvent } from './parser-protocol.ts'

/** The main thread deserializes a message of this size in a few milliseconds. */
const MAX_MESSAGE_CHARACTERS = 500_000

class DocumentParser {
  readonly #port: MessagePort
  readonly #resetAllocations = limitAllocations()
  #batches: Iterator<ParserEvent> | undefined

  constructor(port: MessagePort) {
    this.#port = port
  }

  async handle(command: ParserCommand): Promise<void> {
    if (command.kind === 'next') return this.#sendNextBatch()
    this.#resetAllocations()
    try {
      const document = await readDocument(command.bytes, command.name)
      const passages = command.settings.map((setting) => chunkDocument(document, setting, command.name))
      // A document of invisible characters has no passages; the pool expects at least one batch for each setting.
      if (passages.some((list) => list.length === 0)) throw new DocumentReadError(EMPTY_DOCUMENT_MESSAGE)
      this.#batches = splitIntoBatches(passages)
      this.#send({ kind: 'chunked', pages: document.pages.length > 0 ? document.pages.length : null })
    } catch (error) {
      this.#send({ kind: 'failure', reason: formatFailure(error) })
    }
  }

  #sendNextBatch(): void {
    const batch = this.#batches?.next()
    if (batch && !batch.done) this.#send(batch.value)
    else this.#batches = undefined
  }

  #send(event: ParserEvent): void {
    this.#port.postMessage(event)
  }
}

function* splitIntoBatches(lists: Passage[][]): Generator<ParserEvent> {
  for (const [setting, passages] of lists.entries()) {
    let from = 0
    let characters = 0
    for (const [index, { content, words }] of passages.entries()) {
      characters += content.length + words.length
      const isLast = index === passages.length - 1
      if (characters < MAX_MESSAGE_CHARACTERS && !isLast) continue
      yield { kind: 'passages', setting, passages: passages.slice(from, index + 1), more: setting < lists.length - 1 || !isLast }
      from = index + 1
      characters = 0
    }
  }
}

function formatFailure(error: unknown): string {
  if (error instanceof DocumentReadError) return error.message
  if (error instanceof RangeError && /call stack/.test(error.message)) return 'The document is nested too deeply to be read.'
  if (error instanceof RangeError && /Invalid string length/.test(error.message)) return 'The text of the document is too long to be read.'
  return `The document cannot be read; it may be damaged (${error instanceof Error ? error.message : String(error)}).`
}

if (!parentPort) throw new Error('This file runs in a worker thread.')
const parser = new DocumentParser(parentPort)
parentPort.on('message', (command: ParserCommand) => void parser.handle(command))
parentPort.postMessage({ kind: 'ready' } satisfies ParserEvent)
