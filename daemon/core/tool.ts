/** The interface of an agent's tool, independent of its family. */
import type { Passage, PassageDescription } from '../../src/contract/schemas/passages.ts'
import type { Caller } from './caller.ts'
import { splitHeadings } from './headings.ts'
import type { CallOrigin } from './meter.ts'

export type RetrievedPassage = Passage

/** The parts of a passage that a model reads. */
export function toContextPassage({ content, metadata, descriptions }: RetrievedPassage) {
  const { source, page, headings } = metadata as RetrievedPassage['metadata'] & { headings?: unknown }
  return {
    content,
    source,
    page,
    headings: typeof headings === 'string' ? splitHeadings(headings) : [],
    ...(descriptions ? { descriptions } : {}),
  }
}

/** Lists the descriptions of knowledge sources and folders above passages, each once. Empty if there are none. */
export function formatDescriptions(passages: readonly { descriptions?: readonly PassageDescription[] }[]): string {
  const all = passages.flatMap(({ descriptions = [] }) => descriptions)
  const lines = new Map(all.map(({ path, description }) => [path, `- ${path}: ${description}`]))
  return lines.size === 0 ? '' : ['About the documents:', ...lines.values()].join('\n')
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
