/** What was said, as lines: messages of the person, replies with what they end in, notes of the chat. */
import { formatUncitedNote } from '../../cli/ask/format-citations.ts'
import { hasPages } from '../../cli/ask/format-location.ts'
import { sanitizeLine, sanitizeText } from '../../cli/terminal/text.ts'
import { renderMarkdown } from '../markdown/render-markdown.ts'
import { indentLines, type Line, line, type Span, type Style, span, wrapLine } from '../markdown/styled-text.ts'
import { listSources } from '../state/chat-state.ts'
import type { Citation, ReplyState } from '../state/reply-reducer.ts'
import type { Note, UserMessage } from '../state/transcript-reducer.ts'

export const INDENT = 2
const MAX_MESSAGE_LINES = 16
const MAX_SOURCES = 8

const MARGIN = { first: [span('  ')], rest: [span('  ')] }

/** Under the same margin as all that is not the person's. */
export function insetLines(lines: readonly Line[]): Line[] {
  return lines.map((each) => (each.length === 0 ? each : [...MARGIN.first, ...each]))
}

/** A message of the person. Long ones are folded: who wrote it knows it. */
export function renderMessage({ text }: UserMessage, columns: number): Line[] {
  const lines = sanitizeText(text)
    .trimEnd()
    .split('\n')
    .flatMap((each) => wrapLine(line(each, 'bold'), columns - INDENT))
  const more = lines.length - MAX_MESSAGE_LINES
  const shown = more > 1 ? [...lines.slice(0, MAX_MESSAGE_LINES), line(`… ${more} more lines`, 'dim')] : lines
  return indentLines(shown, { first: [span('› ', 'cyan', 'bold')], rest: MARGIN.rest })
}

export function renderNote({ text, tone, markdown }: Note, columns: number): Line[] {
  if (markdown) return insetLines(renderMarkdown(text, columns - INDENT))
  const style: Style = tone === 'bad' ? 'red' : tone === 'good' ? 'green' : 'dim'
  return insetLines(
    sanitizeText(text)
      .split('\n')
      .flatMap((each) => wrapLine(line(each, style), columns - INDENT)),
  )
}

const FINISH_NOTES: Record<string, string> = {
  length: 'The reply was cut: it reached the longest that is allowed.',
  content_filter: 'The provider withheld the rest of this reply.',
  steps: 'The reply ended here: it used tools too often.',
}

/** What stands below a reply: its sources, and how it ended where that is worth a word. */
export function renderReplyFooter(reply: ReplyState, columns: number): Line[] {
  const room = columns - INDENT
  const lines: Line[] = []
  const cited = listSources(reply).filter((citation) => citation.cited)
  if (cited.length > 0) lines.push(...wrapLine(renderSourceNames(cited), room))
  const over = formatUncitedNote(reply.citations)
  if (over !== undefined) lines.push(...wrapLine(line(over, 'dim'), room))
  for (const [text, style] of describeEnding(reply)) lines.push(...wrapLine(line(text, style), room))
  return insetLines(lines)
}

function renderSourceNames(cited: readonly Citation[]): Line {
  const spans = cited.slice(0, MAX_SOURCES).flatMap((citation, at): Span[] => [
    span(`${at === 0 ? '' : '  '}[${citation.index}]`, 'cyan'),
    // A name and its page are not torn apart at the end of a line.
    span(
      ` ${sanitizeLine(citation.source)}${hasPages(citation) ? `,\u00a0p.\u00a0${citation.page}` : ''}${citation.stale ? ' (changed since)' : ''}`,
      'dim',
    ),
  ])
  return cited.length > MAX_SOURCES ? [...spans, span(` and ${cited.length - MAX_SOURCES} more`, 'dim')] : spans
}

function describeEnding({ status, error, hint, finishReason }: ReplyState): [string, Style][] {
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
      return FINISH_NOTES[finishReason ?? ''] === undefined ? [] : [[FINISH_NOTES[finishReason ?? ''] as string, 'yellow']]
  }
}
