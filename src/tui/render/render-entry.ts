/** What was said, as lines: messages of the person, replies with what they end in, notes of the chat. */
import { formatUncitedNote } from '../../cli/ask/format-citations.ts'
import { hasPages } from '../../cli/ask/format-location.ts'
import { sanitizeLine, sanitizeText } from '../../cli/terminal/text.ts'
import { markdownLines } from '../markdown/render-markdown.ts'
import { indented, type Line, line, type Span, type Style, span, wrapped } from '../markdown/styled-text.ts'
import { sourcesOf } from '../state/chat-state.ts'
import type { Citation, Reply } from '../state/reply-reducer.ts'
import type { Note, Said } from '../state/transcript-reducer.ts'

export const INDENT = 2
const MOST_SAID = 16
const MOST_SOURCES = 8

const margin = { first: [span('  ')], rest: [span('  ')] }

/** Under the same margin as all that is not the person's. */
export function inset(lines: readonly Line[]): Line[] {
  return lines.map((each) => (each.length === 0 ? each : [...margin.first, ...each]))
}

/** A message of the person. Long ones are folded: who wrote it knows it. */
export function saidLines({ text }: Said, columns: number): Line[] {
  const lines = sanitizeText(text)
    .trimEnd()
    .split('\n')
    .flatMap((each) => wrapped(line(each, 'bold'), columns - INDENT))
  const more = lines.length - MOST_SAID
  const shown = more > 1 ? [...lines.slice(0, MOST_SAID), line(`… ${more} more lines`, 'dim')] : lines
  return indented(shown, { first: [span('› ', 'cyan', 'bold')], rest: margin.rest })
}

export function noteLines({ text, tone, markdown }: Note, columns: number): Line[] {
  if (markdown) return inset(markdownLines(text, columns - INDENT))
  const style: Style = tone === 'bad' ? 'red' : tone === 'good' ? 'green' : 'dim'
  return inset(
    sanitizeText(text)
      .split('\n')
      .flatMap((each) => wrapped(line(each, style), columns - INDENT)),
  )
}

const ENDINGS: Record<string, string> = {
  length: 'The reply was cut: it reached the longest that is allowed.',
  content_filter: 'The provider withheld the rest of this reply.',
  steps: 'The reply ended here: it used tools too often.',
}

/** What stands below a reply: its sources, and how it ended where that is worth a word. */
export function closingLines(reply: Reply, columns: number): Line[] {
  const room = columns - INDENT
  const lines: Line[] = []
  const cited = sourcesOf(reply).filter((citation) => citation.cited)
  if (cited.length > 0) lines.push(...wrapped(sourceNames(cited), room))
  const over = formatUncitedNote(reply.citations)
  if (over !== undefined) lines.push(...wrapped(line(over, 'dim'), room))
  for (const [text, style] of endingOf(reply)) lines.push(...wrapped(line(text, style), room))
  return inset(lines)
}

function sourceNames(cited: readonly Citation[]): Line {
  const spans = cited.slice(0, MOST_SOURCES).flatMap((citation, at): Span[] => [
    span(`${at === 0 ? '' : '  '}[${citation.index}]`, 'cyan'),
    // A name and its page are not torn apart at the end of a line.
    span(
      ` ${sanitizeLine(citation.source)}${hasPages(citation) ? `,\u00a0p.\u00a0${citation.page}` : ''}${citation.stale ? ' (changed since)' : ''}`,
      'dim',
    ),
  ])
  return cited.length > MOST_SOURCES ? [...spans, span(` and ${cited.length - MOST_SOURCES} more`, 'dim')] : spans
}

function endingOf({ status, error, hint, finishReason }: Reply): [string, Style][] {
  const again = 'Ctrl+R tries again.'
  switch (status) {
    case 'failed':
      return [
        [`✗ ${sanitizeLine(error ?? 'The reply failed.')}`, 'red'],
        ...(hint === undefined ? [] : [[sanitizeLine(hint), 'dim'] as [string, Style]]),
        [again, 'dim'],
      ]
    case 'interrupted':
      return [
        [`✗ ${sanitizeLine(error ?? 'The reply was interrupted.')}`, 'yellow'],
        [again, 'dim'],
      ]
    case 'aborted':
      return [['■ stopped', 'dim']]
    default:
      return ENDINGS[finishReason ?? ''] === undefined ? [] : [[ENDINGS[finishReason ?? ''] as string, 'yellow']]
  }
}
