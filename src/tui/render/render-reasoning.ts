/** Renders the reasoning of a model: dimmed, and collapsed to one line unless details are shown. */
import { indentLines, type Line, line, span, truncateLine } from '../../cli/terminal/markdown/styled-text.ts'
import { sanitizeLine, sanitizeText } from '../../cli/terminal/text.ts'
import type { ViewOptions } from './render-tool-call.ts'
import { wrapText } from './wrap-text.ts'

const MARGIN = { first: [span('┊ ', 'dim')], rest: [span('┊ ', 'dim')] }
/** While it is written, its end is shown. */
const MAX_LIVE_LINES = 3

export function renderReasoning(text: string, { columns, details, hidesReasoning }: ViewOptions, isComplete: boolean): Line[] {
  const clean = sanitizeText(text).trim()
  if (hidesReasoning || clean === '') return []
  const wrap = (shown: string) => wrapText(shown, columns - 2, 'dim')
  if (!details && isComplete) {
    const count = wrap(clean).length
    return [truncateLine(line(`▸ Reasoning, ${count} ${count === 1 ? 'line' : 'lines'} · Ctrl+T to show`, 'dim'), columns)]
  }
  if (!details) return [truncateLine([span('▸ ', 'dim'), span(sanitizeLine(clean.split('\n').at(-1) ?? ''), 'dim')], columns)]
  // Only the end is wrapped while it is written, so that a frame takes the same time for any length.
  const lines = isComplete ? wrap(clean) : wrap(clean.slice(-columns * MAX_LIVE_LINES)).slice(-MAX_LIVE_LINES)
  return indentLines(lines, MARGIN)
}
