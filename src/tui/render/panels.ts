/** Renders pickers and the completion menu. */
import { type Line, line, span, truncateLine } from '../../cli/terminal/markdown/styled-text.ts'
import { padEnd, sanitizeLine, stringWidth, truncate } from '../../cli/terminal/text.ts'
import { filterChoices, type Menu, type Picker } from '../state/chat-state.ts'

/** Returns the part of a long list that contains the selected item. */
export function sliceAround<T>(items: readonly T[], selected: number, height: number): { items: readonly T[]; first: number } {
  const first = Math.max(0, Math.min(selected - Math.floor(height / 2), items.length - height))
  return { items: items.slice(first, first + height), first }
}

export const renderPointer = (isSelected: boolean) => (isSelected ? span('› ', 'cyan') : span('  '))

export function renderPicker(picker: Picker, columns: number, height: number): Line[] {
  const choices = filterChoices(picker)
  const filter = picker.filter === '' ? span('  type to filter', 'dim') : span(`  ${sanitizeLine(picker.filter)}`, 'yellow')
  const keys = picker.target === 'history' ? 'Enter send · Tab edit · Esc close' : 'Enter select · Esc close'
  const head: Line = [span(`  ${picker.title}`, 'bold'), filter, span(` · ${keys}`, 'dim')]
  if (choices.length === 0) return [truncateLine(head, columns), line('  No matches.', 'dim')]
  const selected = Math.min(picker.selected, choices.length - 1)
  const listed = sliceAround(choices, selected, Math.max(1, Math.min(choices.length, height - 1)))
  const widest = Math.min(
    Math.max(...listed.items.map(({ label }) => stringWidth(sanitizeLine(label)))),
    Math.max(10, Math.floor(columns * 0.6)),
  )
  const rows = listed.items.map(({ label, note }, index): Line => {
    const isSelected = listed.first + index === selected
    return [
      renderPointer(isSelected),
      span(padEnd(truncate(sanitizeLine(label), widest), widest), ...(isSelected ? (['bold'] as const) : [])),
      span(note && `  ${sanitizeLine(note)}`, 'dim'),
    ]
  })
  return [head, ...rows].map((row) => truncateLine(row, columns))
}

export function renderMenu({ completion: { options }, selected }: Menu, columns: number, height: number): Line[] {
  const isCut = height > 1 && options.length > height
  const listed = sliceAround(options, selected, isCut ? height - 1 : Math.min(height, options.length))
  const widest = Math.max(...listed.items.map(({ label }) => stringWidth(sanitizeLine(label))))
  const rows = listed.items.map(({ label, note }, index) => [
    renderPointer(listed.first + index === selected),
    span(padEnd(sanitizeLine(label), widest), 'cyan'),
    span(note && `  ${note}`, 'dim'),
  ])
  return [...rows, ...(isCut ? [line(`  ↑↓ ${options.length} options`, 'dim')] : [])].map((row) => truncateLine(row, columns))
}
