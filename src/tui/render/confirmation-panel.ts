/** Renders a tool call that waits for a confirmation: its request, its arguments and the keys that answer it. */
import { indentLines, type Line, line, span, wrapLine } from '../../cli/terminal/markdown/styled-text.ts'
import { sanitizeLine } from '../../cli/terminal/text.ts'
import type { ToolCall } from '../state/reply-reducer.ts'
import { formatArguments } from './render-tool-call.ts'

interface ConfirmationView {
  /** Arguments as changed by the user. */
  edited: Record<string, unknown> | undefined
  columns: number
  height: number
  /** Empty until they work. */
  keys: readonly string[]
}

const MARGIN = { first: [span('    ')], rest: [span('    ')] }

const MAX_REQUEST_LINES = 3

/** All keys and the start of the request are shown, and as many arguments as fit: long ones must not hide where the request goes. */
export function renderConfirmation(tool: ToolCall, { edited, columns, height, keys }: ConfirmationView): Line[] {
  const width = columns - 4
  const question = wrapLine([span('Allow? ', 'yellow'), ...joinKeys(keys)], width)
  const request = limitLines(renderRequest(tool, edited, width), MAX_REQUEST_LINES)
  const call = limitLines(renderCall(tool, edited, width), Math.max(1, height - question.length - request.length))
  const details = indentLines([...call, ...request], { first: [span('  ? ', 'yellow')], rest: MARGIN.rest })
  return [...details, ...indentLines(question, MARGIN)].slice(-height)
}

const limitLines = (lines: Line[], max: number): Line[] => (lines.length > max ? [...lines.slice(0, max - 1), line('…', 'dim')] : lines)

function renderCall({ name, arguments: requested }: ToolCall, edited: Record<string, unknown> | undefined, width: number): Line[] {
  const args = formatArguments(edited ?? requested)
  const note = edited ? ' (changed)' : ''
  return wrapLine(
    [span(sanitizeLine(name) || 'A tool', 'bold'), span(args === '' ? ' wants to run' : ` wants to run with ${args}${note}`)],
    width,
  )
}

/** The URL of changed arguments is not known yet. */
function renderRequest({ request }: ToolCall, edited: Record<string, unknown> | undefined, width: number): Line[] {
  if (!request) return []
  const url = edited ? `${URL.canParse(request.url) ? new URL(request.url).origin : ''}/…` : request.url
  return wrapLine([span(`${sanitizeLine(request.method)} `, 'bold'), span(sanitizeLine(url))], width)
}

/** Non-breaking spaces keep a key and its meaning on one line. */
function joinKeys(keys: readonly string[]): Line {
  return keys.flatMap((key, index) => [...(index === 0 ? [] : [span(' · ', 'dim')]), span(key.replaceAll(' ', '\u00a0'), 'bold')])
}
