/** What goes to the terminal's own history, once and in order, and what is still alive below it. */

import { INITIAL_STREAM, renderStream, type StreamState } from '../markdown/streaming-markdown.ts'
import type { Line } from '../markdown/styled-text.ts'
import type { Part, ReplyState } from '../state/reply-reducer.ts'
import type { Entry, Transcript } from '../state/transcript-reducer.ts'
import { INDENT, insetLines, renderMessage, renderNote, renderReplyFooter } from './render-entry.ts'
import { renderToolCall } from './render-tool-call.ts'

/** A reply of which the first parts are printed already. */
interface ReplyProgress {
  /** Parts that are printed whole. */
  readonly parts: number
  /** Whether the part after them has begun, so that the line before it stands. */
  readonly hasStarted: boolean
  /** How far the part after them is. */
  readonly stream: StreamState
  readonly text: string
}

export interface ScrollbackState {
  /** Entries that are printed. */
  readonly entries: number
  readonly reply: ReplyProgress | undefined
}

export const EMPTY_SCROLLBACK: ScrollbackState = { entries: 0, reply: undefined }

export interface ScrollbackView {
  columns: number
  now: number
  details: boolean
}

export interface ScrollbackUpdate {
  state: ScrollbackState
  /** New lines for the history. */
  done: Line[]
  live: Line[]
}

const INITIAL_PROGRESS: ReplyProgress = { parts: 0, hasStarted: false, stream: INITIAL_STREAM, text: '' }

/** Prints what can no longer change since the last time. */
export function advanceScrollback(feed: ScrollbackState, { entries, live }: Transcript, view: ScrollbackView): ScrollbackUpdate {
  const done: Line[] = []
  let { reply: progress } = feed
  for (const entry of entries.slice(feed.entries)) {
    if (entry.kind !== 'reply') {
      done.push(...renderEntry(entry, view))
      continue
    }
    const told = advanceReply(entry, progress ?? INITIAL_PROGRESS, view, true)
    done.push(...told.done, ...renderFooter(entry, view))
    progress = undefined
  }
  if (!live) return { state: { entries: entries.length, reply: progress }, done, live: [] }
  const told = advanceReply(live, progress ?? INITIAL_PROGRESS, view, false)
  return { state: { entries: entries.length, reply: told.progress }, done: [...done, ...told.done], live: told.live }
}

function renderEntry(entry: Exclude<Entry, ReplyState>, { columns }: ScrollbackView): Line[] {
  return [...(entry.kind === 'said' ? renderMessage(entry, columns) : renderNote(entry, columns)), []]
}

function renderFooter(entry: ReplyState, { columns }: ScrollbackView): Line[] {
  const lines = renderReplyFooter(entry, columns)
  return lines.length > 0 ? [...lines, []] : []
}

interface ReplyUpdate {
  progress: ReplyProgress
  done: Line[]
  live: Line[]
}

function advanceReply(told: ReplyState, before: ReplyProgress, view: ScrollbackView, whole: boolean): ReplyUpdate {
  // The service stored other words than those that came: what is stored is shown, below what was.
  const part = told.parts[before.parts]
  const differs = whole && before.stream.consumed > 0 && !(part?.kind === 'text' && part.text.startsWith(before.text))
  let progress = differs ? { ...before, flow: INITIAL_STREAM, text: '' } : before
  const done: Line[] = []
  while (progress.parts < told.parts.length) {
    const at = progress.parts
    const next = told.parts[at] as Part
    if (!progress.hasStarted && hasContent(next)) {
      if (at > 0 && !(next.kind === 'tool' && told.parts[at - 1]?.kind === 'tool')) done.push([])
      progress = { ...progress, hasStarted: true }
    }
    const lines = renderPart(next, progress, view, whole || at < told.parts.length - 1)
    done.push(...insetLines(lines.done))
    if (lines.unfinished)
      return {
        progress: { ...progress, ...lines.unfinished },
        done,
        live: [...insetLines(lines.live), ...renderRemainingParts(told, at + 1, view)],
      }
    progress = { ...INITIAL_PROGRESS, parts: at + 1 }
  }
  if (whole && told.parts.some(hasContent)) done.push([])
  return { progress, done, live: [] }
}

const hasContent = (part: Part) => part.kind === 'tool' || part.text.trim() !== ''

interface PartUpdate {
  done: Line[]
  live: Line[]
  unfinished?: Pick<ReplyProgress, 'stream' | 'text'>
}

function renderPart(part: Part, { stream: flow }: ReplyProgress, view: ScrollbackView, whole: boolean): PartUpdate {
  const room = view.columns - INDENT
  if (part.kind === 'tool') {
    // One that asks is shown with its question.
    const lines = part.tool.state === 'asking' ? [] : renderToolCall(part.tool, { ...view, columns: room })
    const over = part.tool.state !== 'running' && part.tool.state !== 'asking'
    return over ? { done: lines, live: [] } : { done: [], live: lines, unfinished: { stream: INITIAL_STREAM, text: '' } }
  }
  const { state: next, done, live } = renderStream(flow, part.text, room, whole)
  return whole ? { done, live } : { done, live, unfinished: { stream: next, text: part.text } }
}

/** What follows something unfinished is alive, too: it must not overtake it. */
function renderRemainingParts({ parts }: ReplyState, from: number, view: ScrollbackView): Line[] {
  return parts.slice(from).flatMap((part) => {
    const { done, live } = renderPart(part, INITIAL_PROGRESS, view, false)
    return insetLines([...done, ...live])
  })
}

/** The end of the transcript in about that many lines, for a screen that is drawn anew. */
export function renderTail(transcript: Transcript, view: ScrollbackView, most: number): ScrollbackUpdate {
  const entries: Line[][] = []
  let count = 0
  for (let at = transcript.entries.length - 1; at >= 0 && count < most; at--) {
    const { done } = advanceScrollback(
      EMPTY_SCROLLBACK,
      { entries: [transcript.entries[at] as Entry], live: undefined, isAwaitingReply: false },
      view,
    )
    entries.unshift(done)
    count += done.length
  }
  const live = advanceScrollback(EMPTY_SCROLLBACK, { entries: [], live: transcript.live, isAwaitingReply: true }, view)
  const done = [...entries.flat(), ...live.done]
  return {
    state: { entries: transcript.entries.length, reply: live.state.reply },
    done: done.slice(-Math.max(0, most)),
    live: live.live,
  }
}
