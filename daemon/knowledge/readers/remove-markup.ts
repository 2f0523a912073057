/** Removes what is not text from Markdown: anchors, comments, badges and layout tags. Code is kept. */
import { closesFence, parseFence } from '../../language/parse-markdown.ts'

/** Longer lines are data rather than prose. */
const MAX_LINE_LENGTH = 10_000
const MAX_PARAGRAPH_LENGTH = 50_000
/** Stands for removed markup until its line is complete; readers remove control characters from text. */
const REMOVED = '\u0000'
const TARGET = String.raw`(?:\([^()]{0,1000}(?:\([^()]{0,200}\)[^()]{0,500})?\)|\[[^\][]{0,200}\])`
const LINKED_IMAGE = new RegExp(String.raw`\[!\[[^\][]{0,300}\]${TARGET}\]${TARGET}`, 'g')
const IMAGE = /!\[[^\][]{0,300}\](?:\(([^()]{0,1000})\)|\[([^\][]{0,200})\])/g
const IMAGE_TAG = /<img\s([^<>]{0,2000})>/gi
const ALTERNATIVE_TEXT = /\balt\s{0,9}=\s{0,9}(?:"([^"]{0,500})"|'([^']{0,500})')/i
const DEFINITION = /^ {0,3}\[([^\][]{1,200})\]:\s{0,9}(\S{1,2000})/
const BADGE_URL =
  /\bshields\.io\/|\bbadgen\.net\/|\bbadges?(?:[./-]|$)|[/_.-]badges?\b|\b(?:travis-ci|codecov|coveralls|snyk)\.\w{2,3}\/.*\.(?:svg|png)\b/i
const EMPTY_ANCHOR = /<(a|span)(?:\s[^<>]{0,500})?>[ \t\u0000]{0,9}<\/\1>|<a\s[^<>]{0,500}\/>/gi
const LAYOUT_LINE = /^(?:\s*<\/?(?:a|br|center|div|hr|p|picture|source)(?:\s[^<>]{0,1000})?\/?>){1,50}\s*$/i

export function removeMarkup(text: string): string {
  if (!/<[!a-z/]|!\[/i.test(text)) return text
  const remover = new MarkupRemover(text)
  for (const line of text.split('\n')) remover.addLine(line)
  return remover.finish()
}

class MarkupRemover {
  readonly #output: string[] = []
  /** Labels of link definitions that lead to badges. */
  readonly #badgeLabels: Set<string>
  readonly #lastCommentEnd: number
  /** Lines of the current paragraph: images and tags may continue on the next line. */
  #paragraph: string[] = []
  #paragraphLength = 0
  #position = 0
  #fence: string | undefined
  #isInComment = false
  #isAfterRemoved = false

  constructor(text: string) {
    this.#lastCommentEnd = text.lastIndexOf('-->')
    this.#badgeLabels = findBadgeLabels(text)
  }

  addLine(line: string): void {
    const start = this.#position
    this.#position += line.length + 1
    if (this.#isCode(line) || (!this.#isInComment && line.trim() === '')) {
      this.#endParagraph()
      this.#keep(line)
      return
    }
    this.#paragraph.push(this.#removeComments(line, start))
    this.#paragraphLength += line.length
    if (this.#paragraphLength > MAX_PARAGRAPH_LENGTH) this.#endParagraph()
  }

  finish(): string {
    this.#endParagraph()
    return this.#output.join('\n')
  }

  /** Whether the line is code, the fence around it, or too long for prose. */
  #isCode(line: string): boolean {
    if (this.#isInComment) return false
    if (this.#fence === undefined) {
      this.#fence = parseFence(line)?.fence
      // Indented code does not continue a paragraph.
      const isIndented = this.#paragraph.length === 0 && /^(?: {4}|\t)/.test(line)
      return this.#fence !== undefined || isIndented || line.length > MAX_LINE_LENGTH
    }
    if (closesFence(line, this.#fence)) this.#fence = undefined
    return true
  }

  /** A comment that does not end is text. */
  #removeComments(line: string, start: number): string {
    if (!this.#isInComment && !line.includes('<!--')) return line
    const spans = findCodeSpans(line)
    let visible = ''
    let from = 0
    for (;;) {
      if (this.#isInComment) {
        visible += REMOVED
        const end = line.indexOf('-->', from)
        if (end < 0) return visible
        this.#isInComment = false
        from = end + 3
      }
      const next = findOutside(spans, line, '<!--', from)
      if (next < 0 || start + next > this.#lastCommentEnd) return visible + line.slice(from)
      visible += line.slice(from, next)
      this.#isInComment = true
      from = next + 4
    }
  }

  #endParagraph(): void {
    if (this.#paragraph.length === 0) return
    const text = this.#paragraph.join('\n')
    this.#paragraph = []
    this.#paragraphLength = 0
    const cleaned = mapText(text, (part) => this.#removeFromText(part))
    for (const line of cleaned.split('\n')) {
      if (this.#isRemoved(line)) this.#isAfterRemoved = true
      else this.#keep(line.includes(REMOVED) ? tidyLine(line) : line)
    }
  }

  #isRemoved(line: string): boolean {
    const visible = line.replaceAll(REMOVED, '')
    if (visible !== line && !/[\p{L}\p{N}]/u.test(visible)) return true
    const label = DEFINITION.exec(visible)?.[1]
    return LAYOUT_LINE.test(visible) || (label !== undefined && this.#badgeLabels.has(label.toLowerCase()))
  }

  #removeFromText(text: string): string {
    return text
      .replaceAll(LINKED_IMAGE, REMOVED)
      .replaceAll(IMAGE, (image, url?: string, label?: string) =>
        (url !== undefined && BADGE_URL.test(url)) || (label !== undefined && this.#badgeLabels.has(label.toLowerCase())) ? REMOVED : image,
      )
      .replaceAll(IMAGE_TAG, (image, attributes: string) => {
        const [, double, single] = BADGE_URL.test(image) ? [] : (ALTERNATIVE_TEXT.exec(attributes) ?? [])
        return (double ?? single ?? '').replaceAll(/\s+/g, ' ').trim() || REMOVED
      })
      .replaceAll(EMPTY_ANCHOR, REMOVED)
  }

  /** A removed line still separates paragraphs, but leaves no second empty line. */
  #keep(line: string): void {
    const isBlank = line.trim() === ''
    const isAfterBlank = this.#output.length === 0 || this.#output.at(-1)?.trim() === ''
    if (this.#isAfterRemoved && isAfterBlank && isBlank) return
    if (this.#isAfterRemoved && !isAfterBlank && !isBlank) this.#output.push('')
    this.#isAfterRemoved = false
    this.#output.push(line)
  }
}

function tidyLine(line: string): string {
  const tidied = line.replaceAll(` ${REMOVED} `, ' ').replaceAll(REMOVED, '').trimEnd()
  return line.startsWith(REMOVED) ? tidied.trimStart() : tidied
}

function findBadgeLabels(text: string): Set<string> {
  const labels = new Set<string>()
  if (!text.includes(']:')) return labels
  for (const line of text.split('\n')) {
    const definition = DEFINITION.exec(line)
    if (definition && BADGE_URL.test(definition[2] ?? '')) labels.add((definition[1] ?? '').toLowerCase())
  }
  return labels
}

/** Code in a line or paragraph. */
interface CodeSpan {
  start: number
  end: number
}

/** Finds code between equal runs of backticks. */
function findCodeSpans(text: string): CodeSpan[] {
  const spans: CodeSpan[] = []
  if (!text.includes('`')) return spans
  const runs = [...text.matchAll(/`+/g)].map(({ 0: run, index }) => ({ start: index, end: index + run.length }))
  /** Index of the next run with the same length, for each run. */
  const nextEqual: (number | undefined)[] = []
  const latest = new Map<number, number>()
  for (let index = runs.length - 1; index >= 0; index--) {
    const { start, end } = runs[index] as CodeSpan
    nextEqual[index] = latest.get(end - start)
    latest.set(end - start, index)
  }
  for (let index = 0; index < runs.length; index++) {
    const closing = nextEqual[index]
    if (closing === undefined) continue
    spans.push({ start: (runs[index] as CodeSpan).start, end: (runs[closing] as CodeSpan).end })
    index = closing
  }
  return spans
}

/** Replaces the parts of a text that are not code. */
function mapText(text: string, replace: (part: string) => string): string {
  let result = ''
  let from = 0
  for (const { start, end } of findCodeSpans(text)) {
    result += replace(text.slice(from, start)) + text.slice(start, end)
    from = end
  }
  return result + replace(text.slice(from))
}

function findOutside(spans: readonly CodeSpan[], line: string, search: string, from: number): number {
  for (let found = line.indexOf(search, from); found >= 0; found = line.indexOf(search, found + 1))
    if (!spans.some(({ start, end }) => found >= start && found < end)) return found
  return -1
}
