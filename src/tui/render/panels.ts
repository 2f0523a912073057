/** What opens above the input: something to choose from, a question of a tool, what a word may become. */
import { padEnd, sanitizeLine, stringWidth, truncate } from '../../cli/terminal/text.ts'
import { indentLines, type Line, line, span, truncateLine, wrapLine } from '../markdown/styled-text.ts'
import { filterChoices, type Menu, type Picker } from '../state/chat-state.ts'
import type { ToolCall } from '../state/reply-reducer.ts'
import { formatArguments } from './render-tool-call.ts'

/** Those rows of a long list that have the chosen one among them. */
export function sliceAround<T>(items: readonly T[], selected: number, height: number): { items: readonly T[]; first: number } {
  const first = Math.max(0, Math.min(selected - Math.floor(height / 2), items.length - height))
  return { items: items.slice(first, first + height), first }
}

export const renderPointer = (chosen: boolean) => (chosen ? span('› ', 'cyan') : span('  '))

export function renderPicker(picker: Picker, columns: number, height: number): Line[] {
  const choices = filterChoices(picker)
  const typed =
    picker.filter === '' ? span('  type to narrow · Enter chooses · Esc closes', 'dim') : span(`  ${sanitizeLine(picker.filter)}`, 'yellow')
  const head: Line = [span(`  ${picker.title}`, 'bold'), typed]
  if (choices.length === 0) return [truncateLine(head, columns), line('  Nothing matches.', 'dim')]
  const selected = Math.min(picker.selected, choices.length - 1)
  const listed = sliceAround(choices, selected, Math.max(1, Math.min(choices.length, height - 1)))
  const widest = Math.min(
    Math.max(...listed.items.map(({ label }) => stringWidth(sanitizeLine(label)))),
    Math.max(10, Math.floor(columns * 0.6)),
  )
  const rows = listed.items.map(({ label, note }, at): Line => {
    const chosen = listed.first + at === selected
    return [
      renderPointer(chosen),
      span(padEnd(truncate(sanitizeLine(label), widest), widest), ...(chosen ? (['bold'] as const) : [])),
      span(note && `  ${sanitizeLine(note)}`, 'dim'),
    ]
  })
  return [head, ...rows].map((each) => truncateLine(each, columns))
}

/** A tool asks before it is used: what it is about to do stands there whole, as far as there is room. */
export function renderConfirmation(tool: ToolCall, columns: number, height: number, keys: string): Line[] {
  const said = formatArguments(tool.arguments)
  const asked = wrapLine(
    [span(sanitizeLine(tool.name) || 'A tool', 'bold'), span(said === '' ? ' wants to run.' : ` wants to run with ${said}`)],
    columns - 4,
  )
  const room = Math.max(1, height - 1)
  const shown = asked.length > room ? [...asked.slice(0, room - 1), line('…', 'dim')] : asked
  return [
    ...indentLines(shown, { first: [span('  ? ', 'yellow')], rest: [span('    ')] }),
    [span('    Allow it? ', 'yellow'), span(keys, 'bold')],
  ]
}

export function renderMenu({ completion: { options }, selected }: Menu, columns: number, height: number): Line[] {
  const cut = height > 1 && options.length > height
  const listed = sliceAround(options, selected, cut ? height - 1 : Math.min(height, options.length))
  const widest = Math.max(...listed.items.map(({ label }) => stringWidth(sanitizeLine(label))))
  const rows = listed.items.map(({ label, note }, at) => [
    renderPointer(listed.first + at === selected),
    span(padEnd(sanitizeLine(label), widest), 'cyan'),
    span(note && `  ${note}`, 'dim'),
  ])
  return [...rows, ...(cut ? [line(`  ↑↓ ${options.length} in all`, 'dim')] : [])].map((each) => truncateLine(each, columns))
}
