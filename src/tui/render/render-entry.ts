/** Renders messages of the user, notes, and the footer of replies. */
import { formatUncitedNote } from '../../cli/ask/format-citations.ts'
import { formatPlace } from '../../cli/ask/format-location.ts'
import { renderMarkdown } from '../../cli/terminal/markdown/render-markdown.ts'
import {
  foldLine,
  indentLines,
  type Line,
  line,
  type Style,
  type StyledSpan,
  span,
  wrapLine,
} from '../../cli/terminal/markdown/styled-text.ts'
import { sanitizeLine, sanitizeText } from '../../cli/terminal/text.ts'
import type { Citation } from '../../contract/schemas/messages.ts'
import { listSources } from '../state/chat-state.ts'
import type { ReplyState } from '../state/reply-reducer.ts'
import type { Note, UserMessage } from '../state/transcript-reducer.ts'
import { wrapText } from './wrap-text.ts'

export const INDENT = 2
const MAX_MESSAGE_LINES = 16
const MAX_SOURCES = 8

const MARGIN = { first: [span('  ')], rest: [span('  ')] }

/** Indents lines as replies and notes are indented. */
export function insetLines(lines: readonly Line[]): Line[] {
  return lines.map((row) => (row.length === 0 ? row : [...MARGIN.first, ...row]))
}

/** Truncates long messages: the user knows them. */
export function renderMessage({ text }: UserMessage, columns: number): Line[] {
  const lines = wrapText(sanitizeText(text).trimEnd(), columns - INDENT, 'bold')
  const more = lines.length - MAX_MESSAGE_LINES
  const visible = more > 1 ? [...lines.slice(0, MAX_MESSAGE_LINES), line(`… ${more} more lines`, 'dim')] : lines
  return indentLines(visible, { first: [span('› ', 'cyan', 'bold')], rest: MARGIN.rest })
}

export function renderNote({ text, tone, markdown }: Note, columns: number): Line[] {
  if (markdown) return insetLines(renderMarkdown(text, columns - INDENT).flatMap((row) => foldLine(row, columns - INDENT)))
  const style: Style = tone === 'bad' ? 'red' : tone === 'good' ? 'green' : 'dim'
  return insetLines(wrapText(sanitizeText(text), columns - INDENT, style))
}

const FINISH_NOTES: Record<string, string> = {
  length: 'The reply was truncated at the maximum length.',
  content_filter: 'The provider filtered the rest of this reply.',
  steps: 'The reply was stopped: too many tool calls.',
}

/** Renders the sources of a reply and how it ended. */
export function renderReplyFooter(reply: ReplyState, columns: number): Line[] {
  const width = columns - INDENT
  const lines: Line[] = []
  const cited = listSources(reply).filter((citation) => citation.cited)
  if (cited.length > 0) lines.push(...wrapLine(renderSourceNames(cited), width))
  const over = formatUncitedNote(reply.citations)
  if (over !== undefined) lines.push(...wrapLine(line(over, 'dim'), width))
  for (const [text, style] of describeEnding(reply)) lines.push(...wrapLine(line(text, style), width))
  return insetLines(lines)
}

function renderSourceNames(cited: readonly Citation[]): Line {
  const spans = cited.slice(0, MAX_SOURCES).flatMap((citation, index): StyledSpan[] => {
    // Non-breaking spaces keep name and place on one line.
    const place = formatPlace(citation)
      ?.replace(/^page /, 'p. ')
      .replaceAll(' ', '\u00a0')
    const stale = citation.stale ? ' (changed since)' : ''
    return [
      span(`${index === 0 ? '' : '  '}[${citation.index}]`, 'cyan'),
      span(` ${sanitizeLine(citation.source)}${place === undefined ? '' : `,\u00a0${place}`}${stale}`, 'dim'),
    ]
  })
  return cited.length > MAX_SOURCES ? [...spans, span(` and ${cited.length - MAX_SOURCES} more`, 'dim')] : spans
}

function describeEnding({ status, error, hint, finishReason }: ReplyState): [string, Style][] {
  const retry = 'To retry: /retry'
  switch (status) {
    case 'failed':
      return [
        [`✗ ${sanitizeLine(error ?? 'The reply failed.')}`, 'red'],
        // A hint about retrying is meant for other clients.
        ...(hint === undefined || hint.includes('/retry') ? [] : [[sanitizeLine(hint), 'dim'] as [string, Style]]),
        [retry, 'dim'],
      ]
    case 'interrupted':
      return [
        [`✗ ${sanitizeLine(error ?? 'The reply was interrupted.')}`, 'yellow'],
        [retry, 'dim'],
      ]
    case 'aborted':
      return [['■ stopped', 'dim']]
    default:
      return FINISH_NOTES[finishReason ?? ''] === undefined ? [] : [[FINISH_NOTES[finishReason ?? ''] as string, 'yellow']]
  }
}
