/** What opens above the input: something to choose from, a question of a tool, what a word may become. */
import { padEnd, sanitizeLine, stringWidth, truncate } from '../../cli/terminal/text.ts'
import { clipped, indented, type Line, line, span, wrapped } from '../markdown/styled-text.ts'
import { choicesOf, type Menu, type Picker } from '../state/chat-state.ts'
import type { ToolUse } from '../state/reply-reducer.ts'
import { argumentText } from './render-tool-call.ts'

/** Those rows of a long list that have the chosen one among them. */
export function around<T>(items: readonly T[], selected: number, height: number): { items: readonly T[]; first: number } {
  const first = Math.max(0, Math.min(selected - Math.floor(height / 2), items.length - height))
  return { items: items.slice(first, first + height), first }
}

export const pointer = (chosen: boolean) => (chosen ? span('› ', 'cyan') : span('  '))

export function pickerLines(picker: Picker, columns: number, height: number): Line[] {
  const choices = choicesOf(picker)
  const typed =
    picker.filter === '' ? span('  type to narrow · Enter chooses · Esc closes', 'dim') : span(`  ${sanitizeLine(picker.filter)}`, 'yellow')
  const head: Line = [span(`  ${picker.title}`, 'bold'), typed]
  if (choices.length === 0) return [clipped(head, columns), line('  Nothing matches.', 'dim')]
  const selected = Math.min(picker.selected, choices.length - 1)
  const listed = around(choices, selected, Math.max(1, Math.min(choices.length, height - 1)))
  const widest = Math.min(
    Math.max(...listed.items.map(({ label }) => stringWidth(sanitizeLine(label)))),
    Math.max(10, Math.floor(columns * 0.6)),
  )
  const rows = listed.items.map(({ label, note }, at): Line => {
    const chosen = listed.first + at === selected
    return [
      pointer(chosen),
      span(padEnd(truncate(sanitizeLine(label), widest), widest), ...(chosen ? (['bold'] as const) : [])),
      span(note && `  ${sanitizeLine(note)}`, 'dim'),
    ]
  })
  return [head, ...rows].map((each) => clipped(each, columns))
}

/** A tool asks before it is used: what it is about to do stands there whole, as far as there is room. */
export function questionLines(tool: ToolUse, columns: number, height: number, keys: string): Line[] {
  const said = argumentText(tool.arguments)
  const asked = wrapped(
    [span(sanitizeLine(tool.name) || 'A tool', 'bold'), span(said === '' ? ' wants to run.' : ` wants to run with ${said}`)],
    columns - 4,
  )
  const room = Math.max(1, height - 1)
  const shown = asked.length > room ? [...asked.slice(0, room - 1), line('…', 'dim')] : asked
  return [
    ...indented(shown, { first: [span('  ? ', 'yellow')], rest: [span('    ')] }),
    [span('    Allow it? ', 'yellow'), span(keys, 'bold')],
  ]
}

export function menuLines({ completion: { options }, selected }: Menu, columns: number, height: number): Line[] {
  const cut = height > 1 && options.length > height
  const listed = around(options, selected, cut ? height - 1 : Math.min(height, options.length))
  const widest = Math.max(...listed.items.map(({ label }) => stringWidth(sanitizeLine(label))))
  const rows = listed.items.map(({ label, note }, at) => [
    pointer(listed.first + at === selected),
    span(padEnd(sanitizeLine(label), widest), 'cyan'),
    span(note && `  ${note}`, 'dim'),
  ])
  return [...rows, ...(cut ? [line(`  ↑↓ ${options.length} in all`, 'dim')] : [])].map((each) => clipped(each, columns))
}
