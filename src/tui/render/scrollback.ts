/** Splits the transcript into lines for the scrollback of the terminal, each written once, and live lines that may still change. */
import { rewriteReply } from '../../cli/terminal/invocation.ts'
import { INITIAL_STREAM, renderStream, type StreamState } from '../../cli/terminal/markdown/streaming-markdown.ts'
import { foldLine, type Line } from '../../cli/terminal/markdown/styled-text.ts'
import type { Part, ReplyState } from '../state/reply-reducer.ts'
import type { Entry, Transcript } from '../state/transcript-reducer.ts'
import { INDENT, insetLines, renderMessage, renderNote, renderReplyFooter } from './render-entry.ts'
import { renderReasoning } from './render-reasoning.ts'
import { renderToolCall, type ViewOptions } from './render-tool-call.ts'

/** Position in a reply that is partly written. */
interface ReplyProgress {
  /** Number of complete parts. */
  readonly parts: number
  /** Whether the empty line before the current part is written. */
  readonly hasStarted: boolean
  /** Position in the current part. */
  readonly stream: StreamState
  readonly text: string
}

export interface ScrollbackState {
  /** Number of complete entries. */
  readonly entries: number
  readonly reply: ReplyProgress | undefined
}

export const EMPTY_SCROLLBACK: ScrollbackState = { entries: 0, reply: undefined }

interface ScrollbackUpdate {
  state: ScrollbackState
  /** New lines for the scrollback. */
  done: Line[]
  /** States from which the lines of an entry, or of a part of a reply, are rendered again: by the index of its first new line. */
  starts: ReadonlyMap<number, ScrollbackState>
  live: Line[]
}

const INITIAL_PROGRESS: ReplyProgress = { parts: 0, hasStarted: false, stream: INITIAL_STREAM, text: '' }

/** Renders everything that is new since `state`. */
export function advanceScrollback(state: ScrollbackState, { entries, live }: Transcript, view: ViewOptions): ScrollbackUpdate {
  const done: Line[] = []
  const starts = new Map<number, ScrollbackState>()
  let { reply } = state
  const advance = (entry: ReplyState, index: number, isComplete: boolean) => {
    const update = advanceReply(entry, reply ?? INITIAL_PROGRESS, view, isComplete)
    for (const [line, progress] of update.starts) starts.set(done.length + line, { entries: index, reply: progress })
    done.push(...update.done)
    return update
  }
  for (let index = state.entries; index < entries.length; index++) {
    const entry = entries[index] as Entry
    starts.set(done.length, { entries: index, reply })
    if (entry.kind !== 'reply') {
      done.push(...renderEntry(entry, view))
      continue
    }
    advance(entry, index, true)
    done.push(...renderFooter(entry, view))
    reply = undefined
  }
  if (!live) return { state: { entries: entries.length, reply }, done, starts, live: [] }
  const update = advance(live, entries.length, false)
  return { state: { entries: entries.length, reply: update.progress }, done, starts, live: update.live }
}

function renderEntry(entry: Exclude<Entry, ReplyState>, view: ViewOptions): Line[] {
  if (entry.kind === 'said') return [...renderMessage(entry, view.columns), []]
  const details = (entry.details ?? []).flatMap((part) => renderPart(part, INITIAL_PROGRESS, { ...view, details: true }, true).done)
  return [...renderNote(entry, view.columns), ...insetLines(details), []]
}

/** Returns the reasoning and the tool results of the last reply that are above a position, so that they are not rendered again from it. */
export function listDetailsAbove({ entries, reply }: ScrollbackState, transcript: Transcript): readonly Part[] {
  const { live } = transcript
  const index = live ? transcript.entries.length : transcript.entries.findLastIndex((entry) => entry.kind === 'reply')
  const last = live ?? transcript.entries[index]
  if (last?.kind !== 'reply' || entries < index) return []
  const above = entries === index ? last.parts.slice(0, reply?.parts ?? 0) : last.parts
  return above.filter((part) => (part.kind === 'tool' ? part.tool.result !== undefined : part.kind === 'reasoning' && hasContent(part)))
}

function renderFooter(entry: ReplyState, { columns }: ViewOptions): Line[] {
  const lines = renderReplyFooter(entry, columns)
  return lines.length > 0 ? [...lines, []] : []
}

interface ReplyUpdate {
  progress: ReplyProgress
  done: Line[]
  /** Progress before each part, by the index of its first line. */
  starts: ReadonlyMap<number, ReplyProgress>
  live: Line[]
}

function advanceReply(reply: ReplyState, before: ReplyProgress, view: ViewOptions, isComplete: boolean): ReplyUpdate {
  // If the stored text differs from the streamed text, the stored text is printed below it.
  const part = reply.parts[before.parts]
  const differs = isComplete && before.stream.consumed > 0 && !(part?.kind === 'text' && part.text.startsWith(before.text))
  let progress: ReplyProgress = differs ? { ...before, stream: INITIAL_STREAM, text: '' } : before
  const done: Line[] = []
  const starts = new Map<number, ReplyProgress>()
  while (progress.parts < reply.parts.length) {
    const index = progress.parts
    starts.set(done.length, progress)
    const current = reply.parts[index] as Part
    if (!progress.hasStarted && hasContent(current)) {
      if (index > 0 && !(current.kind === 'tool' && reply.parts[index - 1]?.kind === 'tool')) done.push([])
      progress = { ...progress, hasStarted: true }
    }
    const update = renderPart(current, progress, view, isComplete || index < reply.parts.length - 1)
    done.push(...insetLines(update.done))
    if (update.unfinished) {
      const live = [...insetLines(update.live), ...renderRemainingParts(reply, index + 1, view)]
      return { progress: { ...progress, ...update.unfinished }, done, starts, live }
    }
    progress = { ...INITIAL_PROGRESS, parts: index + 1 }
  }
  if (isComplete && reply.parts.some(hasContent)) done.push([])
  return { progress, done, starts, live: [] }
}

const hasContent = (part: Part) => part.kind === 'tool' || part.text.trim() !== ''

interface PartUpdate {
  done: Line[]
  live: Line[]
  unfinished?: Pick<ReplyProgress, 'stream' | 'text'>
}

function renderPart(part: Part, { stream }: ReplyProgress, view: ViewOptions, isComplete: boolean): PartUpdate {
  const columns = view.columns - INDENT
  if (part.kind === 'tool') {
    const { state } = part.tool
    // A pending call is shown in the confirmation panel.
    const lines = state === 'asking' ? [] : renderToolCall(part.tool, { ...view, columns })
    const isRunning = state === 'running' || state === 'asking'
    return isRunning ? { done: [], live: lines, unfinished: { stream: INITIAL_STREAM, text: '' } } : { done: lines, live: [] }
  }
  if (part.kind === 'reasoning') {
    const lines = renderReasoning(part.text, { ...view, columns }, isComplete)
    return isComplete ? { done: lines, live: [] } : { done: [], live: lines, unfinished: { stream: INITIAL_STREAM, text: '' } }
  }
  // Only new text is rewritten, since the position counts the characters that were received.
  const text = part.text.slice(0, stream.consumed) + rewriteReply(part.text.slice(stream.consumed))
  const update = renderStream(stream, text, columns, isComplete)
  const fold = (lines: readonly Line[]) => lines.flatMap((line) => foldLine(line, columns))
  const [done, live] = [fold(update.done), fold(update.live)]
  const unfinished = { stream: { ...update.state, consumed: part.text.length }, text: part.text }
  return isComplete ? { done, live } : { done, live, unfinished }
}

/** Parts after an unfinished part are live, so that the order is kept. */
function renderRemainingParts({ parts }: ReplyState, start: number, view: ViewOptions): Line[] {
  return parts.slice(start).flatMap((part) => {
    const { done, live } = renderPart(part, INITIAL_PROGRESS, view, false)
    return insetLines([...done, ...live])
  })
}
