/** What goes to the terminal's own history, once and in order, and what is still alive below it. */

import { drawn, type Flow, START } from '../markdown/streaming-markdown.ts'
import type { Line } from '../markdown/styled-text.ts'
import type { Part, Reply } from '../state/reply-reducer.ts'
import type { Entry, Transcript } from '../state/transcript-reducer.ts'
import { closingLines, INDENT, inset, noteLines, saidLines } from './render-entry.ts'
import { toolLines } from './render-tool-call.ts'

/** A reply of which the first parts are printed already. */
interface Progress {
  /** Parts that are printed whole. */
  readonly parts: number
  /** Whether the part after them has begun, so that the line before it stands. */
  readonly begun: boolean
  /** How far the part after them is. */
  readonly flow: Flow
  readonly text: string
}

export interface Feed {
  /** Entries that are printed. */
  readonly entries: number
  readonly progress: Progress | undefined
}

export const BEGINNING: Feed = { entries: 0, progress: undefined }

export interface View {
  columns: number
  now: number
  details: boolean
}

export interface Fed {
  feed: Feed
  /** New lines for the history. */
  done: Line[]
  live: Line[]
}

const FRESH: Progress = { parts: 0, begun: false, flow: START, text: '' }

/** Prints what can no longer change since the last time. */
export function fed(feed: Feed, { entries, live }: Transcript, view: View): Fed {
  const done: Line[] = []
  let { progress } = feed
  for (const entry of entries.slice(feed.entries)) {
    if (entry.kind !== 'reply') {
      done.push(...entryLines(entry, view))
      continue
    }
    const told = reply(entry, progress ?? FRESH, view, true)
    done.push(...told.done, ...closing(entry, view))
    progress = undefined
  }
  if (!live) return { feed: { entries: entries.length, progress }, done, live: [] }
  const told = reply(live, progress ?? FRESH, view, false)
  return { feed: { entries: entries.length, progress: told.progress }, done: [...done, ...told.done], live: told.live }
}

function entryLines(entry: Exclude<Entry, Reply>, { columns }: View): Line[] {
  return [...(entry.kind === 'said' ? saidLines(entry, columns) : noteLines(entry, columns)), []]
}

function closing(entry: Reply, { columns }: View): Line[] {
  const lines = closingLines(entry, columns)
  return lines.length > 0 ? [...lines, []] : []
}

interface Told {
  progress: Progress
  done: Line[]
  live: Line[]
}

function reply(told: Reply, before: Progress, view: View, whole: boolean): Told {
  // The service stored other words than those that came: what is stored is shown, below what was.
  const part = told.parts[before.parts]
  const differs = whole && before.flow.taken > 0 && !(part?.kind === 'text' && part.text.startsWith(before.text))
  let progress = differs ? { ...before, flow: START, text: '' } : before
  const done: Line[] = []
  while (progress.parts < told.parts.length) {
    const at = progress.parts
    const next = told.parts[at] as Part
    if (!progress.begun && isSomething(next)) {
      if (at > 0 && !(next.kind === 'tool' && told.parts[at - 1]?.kind === 'tool')) done.push([])
      progress = { ...progress, begun: true }
    }
    const lines = partLines(next, progress, view, whole || at < told.parts.length - 1)
    done.push(...inset(lines.done))
    if (lines.unfinished)
      return { progress: { ...progress, ...lines.unfinished }, done, live: [...inset(lines.live), ...rest(told, at + 1, view)] }
    progress = { ...FRESH, parts: at + 1 }
  }
  if (whole && told.parts.some(isSomething)) done.push([])
  return { progress, done, live: [] }
}

const isSomething = (part: Part) => part.kind === 'tool' || part.text.trim() !== ''

interface PartLines {
  done: Line[]
  live: Line[]
  unfinished?: Pick<Progress, 'flow' | 'text'>
}

function partLines(part: Part, { flow }: Progress, view: View, whole: boolean): PartLines {
  const room = view.columns - INDENT
  if (part.kind === 'tool') {
    // One that asks is shown with its question.
    const lines = part.tool.state === 'asking' ? [] : toolLines(part.tool, { ...view, columns: room })
    const over = part.tool.state !== 'running' && part.tool.state !== 'asking'
    return over ? { done: lines, live: [] } : { done: [], live: lines, unfinished: { flow: START, text: '' } }
  }
  const { flow: next, done, live } = drawn(flow, part.text, room, whole)
  return whole ? { done, live } : { done, live, unfinished: { flow: next, text: part.text } }
}

/** What follows something unfinished is alive, too: it must not overtake it. */
function rest({ parts }: Reply, from: number, view: View): Line[] {
  return parts.slice(from).flatMap((part) => {
    const { done, live } = partLines(part, FRESH, view, false)
    return inset([...done, ...live])
  })
}

/** The end of the transcript in about that many lines, for a screen that is drawn anew. */
export function tail(transcript: Transcript, view: View, most: number): Fed {
  const entries: Line[][] = []
  let count = 0
  for (let at = transcript.entries.length - 1; at >= 0 && count < most; at--) {
    const { done } = fed(BEGINNING, { entries: [transcript.entries[at] as Entry], live: undefined, awaiting: false }, view)
    entries.unshift(done)
    count += done.length
  }
  const live = fed(BEGINNING, { entries: [], live: transcript.live, awaiting: true }, view)
  const done = [...entries.flat(), ...live.done]
  return {
    feed: { entries: transcript.entries.length, progress: live.feed.progress },
    done: done.slice(-Math.max(0, most)),
    live: live.live,
  }
}
