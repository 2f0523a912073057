/** What an agent's tool is to a conversation, whichever family it comes from. */
import type { Static } from 'typebox'
import type { Passage } from '../../src/contract/schemas/passages.ts'
import type { Caller } from './caller.ts'
import type { CallOrigin } from './meter.ts'

export type RetrievedPassage = Static<typeof Passage>

/** What a passage stands under in its document, outermost first. */
export function parseHeadings({ metadata }: RetrievedPassage): string[] {
  const { headings } = metadata as { headings?: unknown }
  return typeof headings === 'string' && headings !== '' ? headings.split(' › ') : []
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
  /** As people named it; the toolset makes a name of it that models take. */
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, of type object. */
  readonly parameters: Record<string, unknown>
  readonly requiresConfirmation: boolean
  /** Throws CadreError where the call fails; its message is given to the model. */
  run(input: Record<string, unknown>, use: ToolContext): Promise<ToolOutcome>
  /** Passages for a question as it was asked: for models that do not call tools. */
  retrieve?(question: string, use: ToolContext): Promise<RetrievedPassage[]>
}
