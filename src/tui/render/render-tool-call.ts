/** A call of a tool in a line or two: what it is called with, how long it took, what came of it. */
import { sanitizeLine, sanitizeText } from '../../cli/terminal/text.ts'
import { clipped, indented, type Line, line, type Span, type Style, span, wrapped } from '../markdown/styled-text.ts'
import type { ToolUse } from '../state/reply-reducer.ts'

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const FRAME_MS = 100
const MOST_DETAIL = 20

/** What turns while something is under way. */
export function spinner(now: number): string {
  return FRAMES[Math.floor(now / FRAME_MS) % FRAMES.length] as string
}

const MARKS: Record<Exclude<ToolUse['state'], 'running'>, [string, Style]> = {
  asking: ['?', 'yellow'],
  done: ['✓', 'green'],
  failed: ['✗', 'red'],
  refused: ['–', 'yellow'],
}

export interface ToolView {
  columns: number
  now: number
  details: boolean
}

export function seconds(milliseconds: number): string {
  return milliseconds < 60_000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${Math.floor(milliseconds / 60_000)} min ${Math.floor((milliseconds % 60_000) / 1000)} s`
}

/** `query: leave, top_k: 3`, on one line. */
export function argumentText(given: Record<string, unknown>): string {
  return sanitizeLine(
    Object.entries(given)
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', '),
  )
}

export function toolLines(tool: ToolUse, { columns, now, details }: ToolView): Line[] {
  const [mark, style] = tool.state === 'running' ? [spinner(now), 'cyan' as const] : MARKS[tool.state]
  const facts = factsOf(tool, now)
  const tail: Span[] = facts === '' ? [] : [span(` · ${facts}`, 'dim')]
  const said = argumentText(tool.arguments)
  const head: Line = [
    span(`${mark} `, style),
    span(sanitizeLine(tool.name) || 'a tool', 'bold'),
    ...(said === '' ? [] : [span(` ${said}`, 'dim')]),
  ]
  // How it went is worth more than the end of what it was called with.
  const room = Math.max(10, columns - tail.reduce((sum, { text }) => sum + text.length, 0))
  const first = [...clipped(head, room), ...tail]
  return [clipped(first, columns), ...outcome(tool, columns, details)]
}

function factsOf({ state, since, latencyMs, passages }: ToolUse, now: number): string {
  const time = state === 'running' ? (now - since >= 1000 ? seconds(now - since) : '') : latencyMs === undefined ? '' : seconds(latencyMs)
  const found = passages === undefined ? '' : `${passages} ${passages === 1 ? 'passage' : 'passages'}`
  const word = state === 'refused' ? 'refused' : ''
  return [word, time, found].filter(Boolean).join(' · ')
}

/** The result folded to a line, or at length. Passages are shown where they are cited. */
function outcome({ state, result, error, passages }: ToolUse, columns: number, details: boolean): Line[] {
  const margin = { first: [span('  → ', 'dim')], rest: [span('    ')] }
  if (state === 'failed' && error !== undefined)
    return indented(wrapped(line(sanitizeLine(error), 'red'), columns - 4).slice(0, details ? MOST_DETAIL : 2), margin)
  if (state !== 'done' || result === undefined || (passages !== undefined && !details)) return []
  const text = typeof result === 'string' ? result : JSON.stringify(result, null, details ? 2 : undefined)
  if (text === undefined || text === '') return []
  if (!details) return indented([clipped(line(sanitizeLine(text), 'dim'), columns - 4)], margin)
  const lines = sanitizeText(text)
    .split('\n')
    .flatMap((each) => wrapped(line(each, 'dim'), columns - 4))
  const more = lines.length - MOST_DETAIL
  return indented([...lines.slice(0, MOST_DETAIL), ...(more > 0 ? [line(`… ${more} more lines`, 'dim')] : [])], margin)
}
