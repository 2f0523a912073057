/** Formats replies without an answer: a notice and the closest passages. */
import type { DocumentCount } from '../../core/tool.ts'
import { extractContentWords } from '../../language/content-words.ts'
import { parseFence, stripMarkdown } from '../../language/parse-markdown.ts'
import type { ContextPassage } from '../chat-model.ts'
import { removeCommentMarks } from './format-answer.ts'
import { escapeReferences } from './format-blocks.ts'
import { type Part, parseBlocks, parseParts } from './parse-passage.ts'

/** The part of a passage that is closest to the question. */
export interface QuotedPart {
  /** Index of the passage. */
  passage: number
  part: Part
}

const MAX_CLOSEST_PASSAGES = 3
/** For comparisons and summaries. */
const MAX_RELATED_PASSAGES = 5
const MAX_EXCERPT_LENGTH = 160
/** Less is a number of a section, or a label. */
const MIN_EXCERPT_WORDS = 2

/** The closest passages come first. */
export function formatRefusal(
  passages: readonly ContextPassage[],
  closest: readonly QuotedPart[],
  searched: DocumentCount | undefined,
): string {
  const count = searched?.documents ?? new Set(passages.map(({ source }) => source)).size
  const documents = searched === undefined && count === 0 ? 'your documents' : `${count} ${count === 1 ? 'document' : 'documents'}`
  const unread = searched ? formatUnread(searched) : ''
  const where = unread === '' ? documents : `${documents} (${unread})`
  const list = formatClosestPassages(passages, closest)
  return list === '' ? `I found no answer in ${where}.` : `I found no answer in ${where}. The closest passages:\n\n${list}`
}

function formatUnread({ recognizing, skipped }: DocumentCount): string {
  const waiting = recognizing === 1 ? '1 scan is still being recognised' : `${recognizing} scans are still being recognised`
  const others = skipped === 1 ? '1 file was skipped' : `${skipped} files were skipped`
  return [recognizing > 0 ? waiting : '', skipped > 0 ? others : ''].filter(Boolean).join('; ')
}

/** For questions that quoting cannot answer. */
export function formatNeedsChatModel(passages: readonly ContextPassage[], closest: readonly QuotedPart[]): string {
  const notice = 'Comparing, calculating and summarizing need a chat model. To add one, run cadre models discover --add.'
  const list = formatClosestPassages(passages, closest, MAX_RELATED_PASSAGES)
  return list === '' ? notice : `${notice} These passages fit best:\n\n${list}`
}

/** Returns the first part of each passage that is not a heading. */
export function listFirstParts(passages: readonly ContextPassage[]): QuotedPart[] {
  return passages.flatMap(({ content, source }, passage) => {
    const part = parseParts(content, parseBlocks(content, source)).find(({ block }) => block.kind !== 'heading')
    return part ? [{ passage, part }] : []
  })
}

function formatClosestPassages(passages: readonly ContextPassage[], closest: readonly QuotedPart[], limit = MAX_CLOSEST_PASSAGES): string {
  const lines = new Map<string, string>()
  for (const { passage, part } of closest) {
    const { content, headings = [], source } = passages[passage] as ContextPassage
    const excerpt = formatExcerpt(content, part)
    if (lines.size >= limit || lines.has(excerpt) || extractContentWords(excerpt).length < MIN_EXCERPT_WORDS) continue
    lines.set(excerpt, `- ${escapeReferences(headings.at(-1) ?? source)}: “${escapeReferences(excerpt)}” [${passage + 1}]`)
  }
  return [...lines.values()].join('\n')
}

/** Returns one line of Markdown. The header of a table says nothing without its rows. */
function formatExcerpt(content: string, { start, end, block: { kind } }: Part): string {
  const text = content.slice(start, end)
  if (kind === 'row')
    return text.includes('\n')
      ? ''
      : closeCodeSpan(truncate(stripMarkdown(text.replaceAll('|', ' | '), { keepsCode: true }).replaceAll(/^[\s|]+|[\s|]+$/g, '')))
  if (kind === 'record') return truncate(text.replaceAll('\n', ', '))
  if (kind === 'statement' || kind === 'code') return formatCodeSpan(truncate(removeFences(text)))
  return closeCodeSpan(truncate(stripMarkdown(kind === 'setting' ? removeCommentMarks(text) : text, { keepsCode: true })))
}

const removeFences = (text: string) =>
  text
    .split('\n')
    .filter((line) => parseFence(line) === undefined)
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** Code that contains backticks needs more of them around it. */
function formatCodeSpan(code: string): string {
  const runs = code.match(/`+/g) ?? []
  const marks = '`'.repeat(1 + runs.reduce((most, run) => Math.max(most, run.length), 0))
  return runs.length === 0 ? `${marks}${code}${marks}` : `${marks} ${code} ${marks}`
}

/** Closes a code span that was cut. */
const closeCodeSpan = (text: string) => (text.split('`').length % 2 === 0 ? text.replace(/ …$/, '` …') : text)

function truncate(text: string): string {
  if (text.length <= MAX_EXCERPT_LENGTH) return text
  const cut = text.slice(0, MAX_EXCERPT_LENGTH)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_EXCERPT_LENGTH / 2))} …`
}
