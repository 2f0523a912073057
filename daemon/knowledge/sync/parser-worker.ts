/** Worker thread that reads and chunks one document at a time. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { generatePassages, type Passage } from '../chunking/chunk-document.ts'
import { limitAllocations } from '../readers/limit-allocations.ts'
import { DocumentReadError, EMPTY_DOCUMENT_MESSAGE } from '../readers/parsed-document.ts'
import { readDocument } from '../readers/read-document.ts'
import type { ParserCommand, ParserEvent } from './parser-protocol.ts'
import { selectLines } from './select-lines.ts'

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
      if (command.kind === 'read') return this.#send({ kind: 'text', result: selectLines(document, command.range) })
      this.#batches = splitIntoBatches(command.settings.map((setting) => generatePassages(document, setting, command.name)))
      this.#send({ kind: 'chunked', pages: document.pages.length > 0 ? document.pages.length : null })
    } catch (error) {
      this.#send({ kind: 'failure', reason: formatFailure(error) })
    }
  }

  #sendNextBatch(): void {
    try {
      const batch = this.#batches?.next()
      if (batch && !batch.done) this.#send(batch.value)
    } catch (error) {
      this.#batches = undefined
      this.#send({ kind: 'failure', reason: formatFailure(error) })
    }
  }

  #send(event: ParserEvent): void {
    this.#port.postMessage(event)
  }
}

/** Passages are created when they are requested. */
function* splitIntoBatches(lists: readonly Iterable<Passage>[]): Generator<ParserEvent> {
  for (const [setting, list] of lists.entries()) {
    let passages: Passage[] = []
    let characters = 0
    let isEmpty = true
    for (const passage of list) {
      isEmpty = false
      passages.push(passage)
      characters += passage.content.length + passage.words.length
      if (characters < MAX_MESSAGE_CHARACTERS) continue
      yield { kind: 'passages', setting, passages }
      passages = []
      characters = 0
    }
    // As in a document of invisible characters.
    if (isEmpty) throw new DocumentReadError(EMPTY_DOCUMENT_MESSAGE)
    if (passages.length > 0) yield { kind: 'passages', setting, passages }
  }
  yield { kind: 'end' }
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
