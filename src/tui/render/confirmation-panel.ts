/** Renders a tool call that waits for a confirmation: its request, its arguments and the keys that answer it. */
import { indentLines, type Line, line, span, wrapLine } from '../../cli/terminal/markdown/styled-text.ts'
import { sanitizeLine } from '../../cli/terminal/text.ts'
import type { EditedArguments } from '../state/chat-state.ts'
import type { ToolCall } from '../state/reply-reducer.ts'
import { formatArguments } from './render-tool-call.ts'

interface ConfirmationView {
  /** Arguments as changed by the user, and their request. */
  edited: EditedArguments | undefined
  columns: number
  height: number
  question: string
  /** Empty until they work. */
  keys: readonly string[]
}

const MARGIN = { first: [span('    ')], rest: [span('    ')] }

/** All keys and the whole request are shown, and as many arguments as fit: long ones must not hide where the request goes. */
export function renderConfirmation(tool: ToolCall, { edited, columns, height, question, keys }: ConfirmationView): Line[] {
  const width = columns - 4
  const prompt = wrapLine([span(`${sanitizeLine(question)} `, 'yellow'), ...joinKeys(keys)], width)
  const reason = tool.reason === undefined ? [] : wrapLine(line(sanitizeLine(tool.reason), 'dim'), width)
  const left = Math.max(2, height - prompt.length - reason.length)
  const request = limitLines(renderRequest(edited ? edited.request : tool.request, width), left - 1)
  const call = limitLines(renderCall(tool, edited?.values, width), left - request.length)
  const details = indentLines([...call, ...request, ...reason], { first: [span('  ? ', 'yellow')], rest: MARGIN.rest })
  return [...details, ...indentLines(prompt, MARGIN)].slice(-height)
}

function renderCall({ name, arguments: requested }: ToolCall, edited: Record<string, unknown> | undefined, width: number): Line[] {
  const args = formatArguments(edited ?? requested)
  const note = edited ? ' (changed)' : ''
  return wrapLine(
    [span(sanitizeLine(name) || 'A tool', 'bold'), span(args === '' ? ' wants to run' : ` wants to run with ${args}${note}`)],
    width,
  )
}

function renderRequest(request: ToolCall['request'], width: number): Line[] {
  if (!request) return []
  return wrapLine([span(`${sanitizeLine(request.method)} `, 'bold'), span(sanitizeLine(request.url))], width)
}

/** A single line keeps its beginning. */
const limitLines = (lines: readonly Line[], most: number): Line[] =>
  lines.length <= most ? [...lines] : [...lines.slice(0, Math.max(1, most - 1)), ...(most > 1 ? [line('…', 'dim')] : [])]

/** Non-breaking spaces keep a key and its meaning on one line. */
function joinKeys(keys: readonly string[]): Line {
  return keys.flatMap((key, index) => [...(index === 0 ? [] : [span(' · ', 'dim')]), span(key.replaceAll(' ', '\u00a0'), 'bold')])
}
