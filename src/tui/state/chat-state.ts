/** State of the chat screen and queries on it. */

import { findCitedText } from '../../cli/ask/find-quote.ts'
import type { AgentModel } from '../../cli/ask/resolve-model.ts'
import type { AttachedImage } from '../../cli/input/attachments.ts'
import type { Citation, Message } from '../../contract/schemas/messages.ts'
import type { Completion } from '../input/completion.ts'
import { type Editor, EMPTY_EDITOR } from '../input/line-editor.ts'
import { getText, type ReplyState, type ToolCall } from './reply-reducer.ts'
import { EMPTY_TRANSCRIPT, type Entry, reduceTranscript, type Transcript } from './transcript-reducer.ts'

export interface Choice {
  readonly id: string
  readonly label: string
  readonly note: string
}

/** A list to choose from, filtered by typing. */
export interface Picker {
  readonly kind: 'picker'
  readonly target: 'agent' | 'model' | 'conversation' | 'history'
  readonly title: string
  readonly choices: readonly Choice[]
  readonly filter: string
  readonly selected: number
}

export interface QuoteContext {
  readonly query: string
  readonly quoted: string
}

export interface SourceCitation extends Citation {
  /** The passage opens at the quote, or where most words of both occur. */
  readonly quoteContext: QuoteContext
}

/** The passages of a reply or a search; the text of the selected one is shown. */
export interface SourcePanel {
  readonly kind: 'sources'
  readonly title: string
  readonly citations: readonly SourceCitation[]
  readonly selected: number
  /** First visible line of the selected passage; undefined until the user scrolls. */
  readonly top: number | undefined
}

type Panel = Picker | SourcePanel

export interface Menu {
  readonly completion: Completion
  /** -1 if none is selected yet. */
  readonly selected: number
}

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

export interface OutgoingText {
  /** As the user typed it. */
  readonly text: string
  /** The text with its attached files. */
  readonly message: string
  readonly images: readonly AttachedImage[]
}

/** Arguments of a pending tool call as changed by the user. */
export interface EditedArguments {
  readonly tool: string
  readonly values: Record<string, unknown>
  /** Request that an API tool would send with them. */
  readonly request?: { readonly method: string; readonly url: string }
}

/** A lasting permission that the user has chosen for a pending tool call and not confirmed yet. */
export interface UnconfirmedPermission {
  readonly tool: string
  /** For the agent of the chat, or for all. */
  readonly scope: 'agent' | 'all'
  /** The letter that chose it. If other letters follow, it is the start of a message. */
  readonly letter: string
}

export interface ChatState {
  readonly transcript: Transcript
  readonly editor: Editor
  /** Messages that are sent after the reply in progress. */
  readonly queue: readonly OutgoingText[]
  /** Whether the input replaces the last message. */
  readonly replacesLast: boolean
  readonly editedArguments?: EditedArguments
  readonly unconfirmedPermission?: UnconfirmedPermission
  readonly menu?: Menu
  readonly panel?: Panel
  readonly agent?: { readonly id: string; readonly name: string }
  readonly model?: Readonly<AgentModel>
  readonly conversation?: { readonly id: string; readonly title: string | null }
  /** Usage of the messages before those of the transcript, without totals until it is known; undefined if there are none. */
  readonly earlierUsage?: { readonly totals?: Totals }
  /** Of costs; undefined until it is known. */
  readonly currency?: string
  readonly connectionProblem?: string
  /** Shown instead of the status line. */
  readonly hint?: string
  /** Shows tool results and the reasoning of the model in full. */
  readonly showsDetails: boolean
  /** Files attached by the input. */
  readonly files: readonly string[]
  readonly size: TerminalSize
  readonly now: number
  /** Time of the last progress of the reply. */
  readonly waitingSince: number
  /** Incremented when the transcript was replaced, so that all of it is drawn. */
  readonly redrawCount: number
  /** Incremented to clear the screen. */
  readonly clearCount: number
  /** The terminal already shows the entries before this one when the chat starts. */
  readonly firstEntry: number
}

export const INITIAL_STATE: ChatState = {
  transcript: EMPTY_TRANSCRIPT,
  editor: EMPTY_EDITOR,
  queue: [],
  replacesLast: false,
  showsDetails: false,
  files: [],
  size: { columns: 80, rows: 24 },
  now: 0,
  waitingSince: 0,
  redrawCount: 0,
  clearCount: 0,
  firstEntry: 0,
}

interface Totals {
  readonly tokens: number
  /** Whether tokens of a reply are an estimate. */
  readonly estimated: boolean
  /** Null if a price is unknown. */
  readonly cost: number | null
  /** Tokens of the last model call, 0 if they are unknown. */
  readonly contextTokens: number
}

const listReplies = (entries: readonly Entry[]): ReplyState[] => entries.filter((entry): entry is ReplyState => entry.kind === 'reply')

/** Sums the usage of the current conversation; the transcript may contain earlier ones. */
export function sumUsage({ entries }: Transcript): Totals {
  let totals: Totals = { tokens: 0, estimated: false, cost: 0, contextTokens: 0 }
  const start = entries.findLastIndex((entry) => entry.kind === 'note' && entry.startsConversation) + 1
  const replies = listReplies(entries.slice(start)).filter(({ usage }) => usage)
  // Of several replies to a message, the last one contains the usage of the others.
  for (const { usage, cost, contextTokens = 0 } of new Map(replies.map((reply) => [reply.question ?? reply, reply])).values()) {
    if (!usage) continue
    totals = {
      tokens: totals.tokens + usage.total_tokens,
      estimated: totals.estimated || usage.estimated === true,
      cost: totals.cost === null || cost === null || cost === undefined ? null : totals.cost + cost,
      contextTokens,
    }
  }
  return totals
}

export const sumMessageUsage = (messages: readonly Message[]): Totals =>
  sumUsage(reduceTranscript(EMPTY_TRANSCRIPT, { kind: 'loaded', messages }))

/** Sums the usage of the current conversation with that of messages that are not shown. Undefined until it is known. */
export function sumConversationUsage({ transcript, earlierUsage }: ChatState): Totals | undefined {
  const shown = sumUsage(transcript)
  if (!earlierUsage) return shown
  const { totals: earlier } = earlierUsage
  return (
    earlier && {
      tokens: earlier.tokens + shown.tokens,
      estimated: earlier.estimated || shown.estimated,
      cost: earlier.cost === null || shown.cost === null ? null : earlier.cost + shown.cost,
      contextTokens: shown.contextTokens,
    }
  )
}

export function findLastReply(transcript: Transcript): ReplyState | undefined {
  return transcript.live ?? listReplies(transcript.entries).at(-1)
}

/** Returns the cited passages of a reply, or all passages if none is cited. */
export function listSources(reply: ReplyState | undefined): readonly Citation[] {
  const citations = reply?.citations ?? []
  const cited = citations.filter((citation) => citation.cited)
  return cited.length > 0 ? cited : citations
}

/** Returns the question, and what the reply quotes from a passage. */
export function buildQuoteContext({ entries }: Transcript, reply: ReplyState | undefined, index: number): QuoteContext {
  const query = entries.findLast((entry) => entry.kind === 'said')?.text ?? ''
  return { query, quoted: reply ? findCitedText(getText(reply), index) : '' }
}

export function filterChoices({ choices, filter }: Picker): readonly Choice[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  return choices.filter(({ label, note }) => words.every((word) => `${label} ${note}`.toLowerCase().includes(word)))
}

/** Returns the arguments of a pending tool call if the user changed them. */
export function getEditedArguments({ editedArguments }: ChatState, tool: ToolCall): EditedArguments | undefined {
  return editedArguments?.tool === tool.id ? editedArguments : undefined
}

export function getUnconfirmedPermission({ unconfirmedPermission }: ChatState, tool: ToolCall): UnconfirmedPermission | undefined {
  return unconfirmedPermission?.tool === tool.id ? unconfirmedPermission : undefined
}

/** Whether the last reply failed or was interrupted. */
export function canRetry({ entries, isAwaitingReply: awaiting }: Transcript): boolean {
  const reply = entries.findLast((entry) => entry.kind !== 'note')
  return !awaiting && reply?.kind === 'reply' && ['failed', 'interrupted', 'aborted'].includes(reply.status)
}
