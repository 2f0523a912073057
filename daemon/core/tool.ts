/** The interface of an agent's tool, independent of its family. */
import type { Passage, PassageDescription } from '../../src/contract/schemas/passages.ts'
import type { Compute } from '../tables/computation.ts'
import type { Caller } from './caller.ts'
import { splitHeadings } from './headings.ts'
import type { CallOrigin } from './meter.ts'

export type RetrievedPassage = Passage

/** The parts of a passage that a model reads. */
export function toContextPassage({ content, metadata, descriptions }: RetrievedPassage) {
  const { source, page, place, headings } = metadata as RetrievedPassage['metadata'] & { headings?: unknown }
  return {
    content,
    source,
    page,
    ...(place === undefined ? {} : { place }),
    headings: typeof headings === 'string' ? splitHeadings(headings) : [],
    descriptions,
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
  /** Whether the model has read text of documents, tools or attached files before it made the call. */
  hasUntrustedText?: boolean
}

/** Passages, which the conversation numbers and cites, or any JSON value, which can be cited if it has an origin. */
export type ToolOutcome =
  | { kind: 'passages'; passages: RetrievedPassage[] }
  | { kind: 'value'; value: unknown; origin?: RetrievedPassage[] }

export interface DocumentCount {
  documents: number
  /** Images and scans whose text is not recognised yet. */
  recognizing: number
  /** Files that are not documents. */
  skipped: number
}

/** A passage near the one that was found, without the text that it shares with passages in between. */
export interface NeighbouringPassage {
  content: string
  /** Headings above it, outermost first. */
  headings: readonly string[]
  /** Number of characters between it and the next passage towards the one that was found. */
  gap: number
}

/** The passages before and after one that was found, in the order of the document. */
export interface Neighbours {
  before: readonly NeighbouringPassage[]
  after: readonly NeighbouringPassage[]
}

/** Lists the neighbours of a passage that was found, for answers that begin or continue there. Its place is in its metadata. */
export type ListNeighbours = (passage: { document_id?: string; start?: unknown; end?: unknown }) => Promise<Neighbours | undefined>

export interface Tool {
  readonly id: string
  /** The name that the user chose. The toolset derives a name that models accept. */
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, of type object. */
  readonly parameters: Record<string, unknown>
  readonly requiresConfirmation: boolean
  /** Whether calls require confirmation, each one, if the model has read text that its user did not write. */
  readonly confirmsUntrustedText?: boolean
  /** Throws CadreError if the call would be rejected in any case, so that nobody has to confirm it. */
  check?(input: Record<string, unknown>): void
  /** Describes the request that a call would send, for the user who confirms it. */
  describeRequest?(input: Record<string, unknown>): { method: string; url: string }
  /** Throws CadreError if the call fails. The model sees its message. */
  run(input: Record<string, unknown>, use: ToolContext): Promise<ToolOutcome>
  /** Finds passages for the user's question, for models that cannot call tools. */
  retrieve?(question: string, use: ToolContext): Promise<RetrievedPassage[]>
  listNeighbours?: ListNeighbours
  /** Counts the documents and skipped files of each knowledge source that the tool searches. */
  countDocuments?(): Promise<Map<string, DocumentCount>>
  /** Computes the answer to a question from the tables of the documents. */
  compute?: Compute
  /** Further tools that an agent with this one has, such as those for tables. */
  companions?: readonly Tool[]
}
