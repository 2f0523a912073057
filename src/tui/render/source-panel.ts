/** Renders the sources panel: a list of passages and the text of the selected one. */
import { locateQuote } from '../../cli/ask/find-quote.ts'
import { formatLocation, formatSection } from '../../cli/ask/format-location.ts'
import { createQueryPattern, findBestStart } from '../../cli/ask/format-passages.ts'
import { type Line, line, measureLine, span, truncateLine } from '../../cli/terminal/markdown/styled-text.ts'
import { sanitizeLine, sanitizeText } from '../../cli/terminal/text.ts'
import type { QuoteContext, SourcePanel } from '../state/chat-state.ts'
import { renderPointer, sliceAround } from './panels.ts'
import { wrapText } from './wrap-text.ts'

const MARGIN = 6
/** The quoted part is searched in a window of about the size that `cadre ask` shows. */
const QUOTE_LINES = 3
const MAX_QUOTE_COLUMNS = 100

/** Returns the index of the line in which the quoted part starts. */
function findQuotedLine(text: string, { query, quoted }: QuoteContext, columns: number, visibleLines: number): number {
  const flat = text.replaceAll('\n', ' ')
  const length = Math.min(columns, MAX_QUOTE_COLUMNS) * Math.min(QUOTE_LINES, visibleLines)
  const start = locateQuote(flat, quoted)?.start ?? findBestStart(flat, createQueryPattern(`${quoted} ${query}`), length)
  const word = /^\s*\S*/.exec(flat.slice(start))?.[0] ?? ''
  return wrapText(text.slice(0, start + word.length), columns).length - 1
}

/** Returns the visible part of the list and of the selected passage. */
function layOutPanel({ citations, selected, top }: SourcePanel, columns: number, height: number) {
  const listed = sliceAround(citations, selected, Math.max(1, Math.min(citations.length, Math.floor((height - 1) / 2))))
  const visibleLines = Math.max(0, height - 1 - listed.items.length)
  const { content, quoteContext: about } = citations[selected] ?? { content: '', quoteContext: { query: '', quoted: '' } }
  const text = sanitizeText(content).trim()
  const lines = wrapText(text, columns - MARGIN)
  const last = Math.max(0, lines.length - visibleLines)
  return { listed, lines, visibleLines, last, first: Math.min(last, top ?? findQuotedLine(text, about, columns - MARGIN, visibleLines)) }
}

/** Scrolls by a line, or by a page that overlaps by one line. */
export function scrollPanel(
  panel: SourcePanel,
  { isForward, isPage }: { isForward: boolean; isPage: boolean },
  columns: number,
  height: number,
): SourcePanel {
  const { first, last, visibleLines } = layOutPanel(panel, columns, height)
  const step = isPage ? Math.max(1, visibleLines - 1) : 1
  return { ...panel, top: isForward ? Math.min(last, first + step) : Math.max(0, first - step) }
}

export function renderSourcePanel(panel: SourcePanel, columns: number, height: number): Line[] {
  const { title, citations, selected } = panel
  if (citations.length === 0) return [renderHeading(title, ['Esc close'], columns), line('  The last reply has no sources.', 'dim')]
  const { listed, lines, visibleLines, first, last } = layOutPanel(panel, columns, height)
  const names = listed.items.map((citation, position): Line => {
    const { index, cited, stale } = citation
    const note = [cited ? '' : 'not cited', stale ? 'changed since' : ''].filter(Boolean).join(', ')
    const section = formatSection(citation)
    const isSelected = listed.first + position === selected
    return [
      renderPointer(isSelected),
      span(`[${index}] `, 'cyan'),
      span(formatLocation(citation), ...(isSelected ? (['bold'] as const) : [])),
      span(note && ` (${note})`, 'dim'),
      span(section && ` · ${section}`, 'dim'),
    ]
  })
  const shown = lines.slice(first, first + visibleLines)
  const passage = shown.map((passageLine, position): Line => {
    const cut = (position === 0 && first > 0) || (position === shown.length - 1 && first < last)
    return [span(cut ? '    … ' : '    │ ', 'dim'), ...passageLine]
  })
  const keys = [
    lines.length > visibleLines && visibleLines > 0 ? '↑↓ scroll' : '',
    citations.length > 1 ? 'Tab next' : '',
    'Esc close',
  ].filter(Boolean)
  return [renderHeading(title, keys, columns), ...[...names, ...passage].map((row) => truncateLine(row, columns))]
}

/** Renders the title and as many key hints as fit. */
function renderHeading(title: string, keys: readonly string[], columns: number): Line {
  let head: Line = [span(`  ${sanitizeLine(title)}`, 'bold')]
  for (const [index, key] of keys.entries()) {
    const longer = [...head, span(`${index === 0 ? '  ' : ' · '}${key}`, 'dim')]
    if (measureLine(longer) > columns) break
    head = longer
  }
  return truncateLine(head, columns)
}
