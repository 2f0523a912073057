/** The interface of an agent's tool, independent of its family. */
import type { Passage } from '../../src/contract/schemas/passages.ts'
import type { Caller } from './caller.ts'
import { splitHeadings } from './headings.ts'
import type { CallOrigin } from './meter.ts'

export type RetrievedPassage = Passage

/** The headings above a passage in its document, outermost first. */
export function parseHeadings({ metadata }: RetrievedPassage): string[] {
  const { headings } = metadata as { headings?: unknown }
  return typeof headings === 'string' ? splitHeadings(headings) : []
}

export interface ToolContext {
  caller: Caller
  origin: CallOrigin
  signal: AbortSignal
}

/** Passages, which the conversation numbers and cites, or any JSON value. */
export type ToolOutcome = { kind: 'passages'; passages: RetrievedPassage[] } | { kind: 'value'; value: unknown }

export interface Tool {
  readonly id: string
  /** The name that the user chose. The toolset derives a name that models accept. */
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, of type object. */
  readonly parameters: Record<string, unknown>
  readonly requiresConfirmation: boolean
  /** Describes the request that a call would send, for the user who confirms it. */
  describeRequest?(input: Record<string, unknown>): { method: string; url: string }
  /** Throws CadreError if the call fails. The model sees its message. */
  run(input: Record<string, unknown>, use: ToolContext): Promise<ToolOutcome>
  /** Finds passages for the user's question, for models that cannot call tools. */
  retrieve?(question: string, use: ToolContext): Promise<RetrievedPassage[]>
  /** Returns the number of documents of each knowledge source that the tool searches. */
  countDocuments?(): Promise<Map<string, number>>
}
