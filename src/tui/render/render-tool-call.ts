/** Renders a tool call: arguments, duration and result. */
import {
  indentLines,
  type Line,
  line,
  type Style,
  type StyledSpan,
  span,
  truncateLine,
  wrapLine,
} from '../../cli/terminal/markdown/styled-text.ts'
import { sanitizeLine, sanitizeText } from '../../cli/terminal/text.ts'
import type { ToolCall } from '../state/reply-reducer.ts'
import { wrapText } from './wrap-text.ts'

const SPINNER_FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const SPINNER_INTERVAL_MS = 100
const MAX_DETAIL_LINES = 20

export function getSpinnerFrame(now: number): string {
  return SPINNER_FRAMES[Math.floor(now / SPINNER_INTERVAL_MS) % SPINNER_FRAMES.length] as string
}

const MARKS: Record<Exclude<ToolCall['state'], 'running'>, [string, Style]> = {
  asking: ['?', 'yellow'],
  done: ['✓', 'green'],
  failed: ['✗', 'red'],
  refused: ['–', 'yellow'],
}

export interface ViewOptions {
  columns: number
  now: number
  /** Shows tool results and reasoning in full. */
  details: boolean
  /** Shows no reasoning, for chats without a key that would expand it. */
  hidesReasoning?: boolean
}

export function formatSeconds(milliseconds: number): string {
  return milliseconds < 60_000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${Math.floor(milliseconds / 60_000)} min ${Math.floor((milliseconds % 60_000) / 1000)} s`
}

/** Formats as `query: leave, top_k: 3` on one line. */
export function formatArguments(args: Record<string, unknown>): string {
  return sanitizeLine(
    Object.entries(args)
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', '),
  )
}

export function renderToolCall(tool: ToolCall, { columns, now, details }: ViewOptions): Line[] {
  const [mark, style] = tool.state === 'running' ? [getSpinnerFrame(now), 'cyan' as const] : MARKS[tool.state]
  const facts = formatFacts(tool, now)
  const tail: StyledSpan[] = facts === '' ? [] : [span(` · ${facts}`, 'dim')]
  const args = formatArguments(tool.arguments)
  const head: Line = [
    span(`${mark} `, style),
    span(sanitizeLine(tool.name) || 'a tool', 'bold'),
    ...(args === '' ? [] : [span(` ${args}`, 'dim')]),
  ]
  // Truncates the arguments rather than the outcome.
  const headColumns = Math.max(10, columns - tail.reduce((sum, { text }) => sum + text.length, 0))
  const first = [...truncateLine(head, headColumns), ...tail]
  return [truncateLine(first, columns), ...renderResult(tool, columns, details)]
}

function formatFacts({ state, since, latencyMs, passages }: ToolCall, now: number): string {
  const time =
    state === 'running' ? (now - since >= 1000 ? formatSeconds(now - since) : '') : latencyMs === undefined ? '' : formatSeconds(latencyMs)
  const found = passages === undefined ? '' : `${passages} ${passages === 1 ? 'passage' : 'passages'}`
  const word = state === 'refused' ? 'refused' : ''
  return [word, time, found].filter(Boolean).join(' · ')
}

/** Renders the result on one line, or in full with details. Passages are shown as sources instead. */
function renderResult({ state, result, error, passages }: ToolCall, columns: number, details: boolean): Line[] {
  const margin = { first: [span('  → ', 'dim')], rest: [span('    ')] }
  if (state === 'failed' && error !== undefined)
    return indentLines(wrapLine(line(sanitizeLine(error), 'red'), columns - 4).slice(0, details ? MAX_DETAIL_LINES : 2), margin)
  if (state !== 'done' || result === undefined || (passages !== undefined && !details)) return []
  const text = typeof result === 'string' ? result : JSON.stringify(result, null, details ? 2 : undefined)
  if (text === undefined || text === '') return []
  if (!details) return indentLines([truncateLine(line(sanitizeLine(text), 'dim'), columns - 4)], margin)
  const lines = wrapText(sanitizeText(text), columns - 4, 'dim')
  const more = lines.length - MAX_DETAIL_LINES
  return indentLines([...lines.slice(0, MAX_DETAIL_LINES), ...(more > 0 ? [line(`… ${more} more lines`, 'dim')] : [])], margin)
}
