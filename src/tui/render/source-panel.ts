/** The passages of a reply or a search: their names, and the chosen one from where it was quoted, to be scrolled in. */

import { formatLocation } from '../../cli/ask/format-location.ts'
import { createQueryPattern, findBestStart } from '../../cli/ask/format-passages.ts'
import { sanitizeLine, sanitizeText } from '../../cli/terminal/text.ts'
import { type Line, line, measureLine, span, truncateLine, wrapLine } from '../markdown/styled-text.ts'
import type { SourceCitation, SourcePanel } from '../state/chat-state.ts'
import { renderPointer, sliceAround } from './panels.ts'

const MARGIN = 6
/** What is quoted is looked for within about as much text as `cadre ask` shows of a passage. */
const QUOTE_LINES = 3
const MAX_QUOTE_COLUMNS = 100

const wrapText = (text: string, columns: number): Line[] => text.split('\n').flatMap((each) => wrapLine(line(each), columns))

/** The line in which the quoted part begins: the last one of all up to its first word. */
function findQuotedLine(text: string, about: string, columns: number, room: number): number {
  const flat = text.replaceAll('\n', ' ')
  const start = findBestStart(flat, createQueryPattern(about), Math.min(columns, MAX_QUOTE_COLUMNS) * Math.min(QUOTE_LINES, room))
  const word = /^\s*\S*/.exec(flat.slice(start))?.[0] ?? ''
  return wrapText(text.slice(0, start + word.length), columns).length - 1
}

/** The names that are listed, and the lines of the open passage with the first that is shown and how many there is room for. */
function layOutPanel({ citations, selected, top }: SourcePanel, columns: number, height: number) {
  const listed = sliceAround(citations, selected, Math.max(1, Math.min(citations.length, Math.floor((height - 1) / 2))))
  const room = Math.max(0, height - 1 - listed.items.length)
  const { content, quoteContext: about }: Pick<SourceCitation, 'content' | 'quoteContext'> = citations[selected] ?? {
    content: '',
    quoteContext: '',
  }
  const text = sanitizeText(content).trim()
  const lines = wrapText(text, columns - MARGIN)
  const last = Math.max(0, lines.length - room)
  return { listed, lines, room, last, first: Math.min(last, top ?? findQuotedLine(text, about, columns - MARGIN, room)) }
}

/** By a line, or by a page that keeps one line of the page before. */
export function scrollPanel(
  panel: SourcePanel,
  { forward, page }: { forward: boolean; page: boolean },
  columns: number,
  height: number,
): SourcePanel {
  const { first, last, room } = layOutPanel(panel, columns, height)
  const by = page ? Math.max(1, room - 1) : 1
  return { ...panel, top: forward ? Math.min(last, first + by) : Math.max(0, first - by) }
}

export function renderSourcePanel(panel: SourcePanel, columns: number, height: number): Line[] {
  const { title, citations, selected } = panel
  if (citations.length === 0)
    return [renderHeading(title, ['Esc closes'], columns), line('  The last reply stands on no documents.', 'dim')]
  const { listed, lines, room, first, last } = layOutPanel(panel, columns, height)
  const names = listed.items.map((citation, at): Line => {
    const { index, cited, stale } = citation
    const note = [cited ? '' : 'not cited', stale ? 'changed since' : ''].filter(Boolean).join(', ')
    const chosen = listed.first + at === selected
    return [
      renderPointer(chosen),
      span(`[${index}] `, 'cyan'),
      span(formatLocation(citation), ...(chosen ? (['bold'] as const) : [])),
      span(note && ` (${note})`, 'dim'),
    ]
  })
  const shown = lines.slice(first, first + room)
  const passage = shown.map((each, at): Line => {
    const cut = (at === 0 && first > 0) || (at === shown.length - 1 && first < last)
    return [span(cut ? '    … ' : '    │ ', 'dim'), ...each]
  })
  const keys = [lines.length > room && room > 0 ? '↑↓ scroll' : '', citations.length > 1 ? 'Tab next' : '', 'Esc closes'].filter(Boolean)
  return [renderHeading(title, keys, columns), ...[...names, ...passage].map((each) => truncateLine(each, columns))]
}

/** The title, and as many of the keys as fit beside it whole. */
function renderHeading(title: string, keys: readonly string[], columns: number): Line {
  let head: Line = [span(`  ${sanitizeLine(title)}`, 'bold')]
  for (const [at, each] of keys.entries()) {
    const longer = [...head, span(`${at === 0 ? '  ' : ' · '}${each}`, 'dim')]
    if (measureLine(longer) > columns) break
    head = longer
  }
  return truncateLine(head, columns)
}
