/** All that the screen shows, as one value. */

import type { AgentModel } from '../../cli/ask/find-agent-model.ts'
import type { Completion } from '../input/completion.ts'
import { type Editor, EMPTY_EDITOR } from '../input/editor.ts'
import { type Citation, getText, type ReplyState } from './reply-reducer.ts'
import { EMPTY_TRANSCRIPT, type Entry, type Transcript } from './transcript-reducer.ts'

export interface Choice {
  readonly id: string
  readonly label: string
  readonly note: string
}

/** Something to choose from, narrowed by what is typed. */
export interface Picker {
  readonly kind: 'picker'
  readonly target: 'agent' | 'model' | 'conversation'
  readonly title: string
  readonly choices: readonly Choice[]
  readonly filter: string
  readonly selected: number
}

export interface SourceCitation extends Citation {
  /** What was asked for and what the reply says of it: the passage opens where most of these words stand. */
  readonly quoteContext: string
}

/** The passages of a reply or a search, one of them open. */
export interface SourcePanel {
  readonly kind: 'sources'
  readonly title: string
  readonly citations: readonly SourceCitation[]
  readonly selected: number
  /** The first line that is shown of the open one; undefined until somebody scrolls. */
  readonly top: number | undefined
}

export type Panel = Picker | SourcePanel

export interface Menu {
  readonly completion: Completion
  readonly selected: number
}

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

export interface ChatState {
  readonly transcript: Transcript
  readonly editor: Editor
  readonly menu: Menu | undefined
  readonly panel: Panel | undefined
  readonly agent: { readonly id: string; readonly name: string } | undefined
  readonly model: Readonly<AgentModel> | undefined
  readonly conversation: { readonly id: string; readonly title: string | null } | undefined
  /** What is wrong with the connection; undefined while nothing is. */
  readonly connectionProblem: string | undefined
  /** A word about the next key, in place of the status. */
  readonly hint: string | undefined
  /** Results of tools at length. */
  readonly showsDetails: boolean
  /** Files that the text names. */
  readonly files: readonly string[]
  readonly size: TerminalSize
  readonly now: number
  /** Since when a reply is awaited. */
  readonly waitingSince: number
  /** Grows when all has to be drawn anew: the end of the conversation, or the whole of it. */
  readonly redrawCount: number
  readonly redrawsAll: boolean
  /** Entries before this one were cleared away. */
  readonly firstEntry: number
}

export const INITIAL_STATE: ChatState = {
  transcript: EMPTY_TRANSCRIPT,
  editor: EMPTY_EDITOR,
  menu: undefined,
  panel: undefined,
  agent: undefined,
  model: undefined,
  conversation: undefined,
  connectionProblem: undefined,
  hint: undefined,
  showsDetails: false,
  files: [],
  size: { columns: 80, rows: 24 },
  now: 0,
  waitingSince: 0,
  redrawCount: 0,
  redrawsAll: false,
  firstEntry: 0,
}

export interface Totals {
  readonly tokens: number
  /** Null once one of the prices is not known. */
  readonly cost: number | null
  /** Tokens of the last reply and all that it read: what the next one begins with. */
  readonly contextTokens: number
}

const listReplies = (entries: readonly Entry[]): ReplyState[] => entries.filter((entry): entry is ReplyState => entry.kind === 'reply')

/** Of the conversation that is talked in; others may stand before it. */
export function sumUsage({ entries }: Transcript): Totals {
  let totals: Totals = { tokens: 0, cost: 0, contextTokens: 0 }
  const begun = entries.findLastIndex((entry) => entry.kind === 'note' && entry.startsConversation) + 1
  for (const { usage, cost } of listReplies(entries.slice(begun))) {
    if (!usage) continue
    totals = {
      tokens: totals.tokens + usage.total_tokens,
      cost: totals.cost === null || cost === null || cost === undefined ? null : totals.cost + cost,
      contextTokens: usage.total_tokens,
    }
  }
  return totals
}

export function findLastReply(transcript: Transcript): ReplyState | undefined {
  return transcript.live ?? listReplies(transcript.entries).at(-1)
}

/** What a reply refers to; where it refers to nothing, all that it was given. */
export function listSources(reply: ReplyState | undefined): readonly Citation[] {
  const all = reply?.citations ?? []
  const cited = all.filter((citation) => citation.cited)
  return cited.length > 0 ? cited : all
}

/** The sentence of a reply that refers to a passage, and the question: a reply may say what the question has no words for, and the other way round. */
export function buildQuoteContext({ entries }: Transcript, reply: ReplyState | undefined, index: number): string {
  const question = entries.findLast((entry) => entry.kind === 'said')?.text ?? ''
  const said = reply ? getText(reply) : ''
  const at = said.indexOf(`[${index}]`)
  const before = said.slice(0, Math.max(0, at)).replace(/(?:\s*\[\d+\])*\s*$/, '')
  return `${before.split(/(?<=[.!?])\s+|(?<=。)|\n|\[\d+\]/).at(-1)} ${question}`.trim()
}

/** The choices that what was typed leaves. */
export function filterChoices({ choices, filter }: Picker): readonly Choice[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  return choices.filter(({ label, note }) => words.every((word) => `${label} ${note}`.toLowerCase().includes(word)))
}

/** Whether a reply failed in a way that trying again may mend. */
export function canRetry({ entries, isAwaitingReply: awaiting }: Transcript): boolean {
  const reply = entries.findLast((entry) => entry.kind !== 'note')
  return !awaiting && reply?.kind === 'reply' && (reply.status === 'failed' || reply.status === 'interrupted')
}
