/** Parses a document into blocks: headings, paragraphs, list items, table rows, code and settings. */
import { type ConfigLine, classifyConfigLine } from '../../language/classify-config-line.ts'
import type { ParsedDocument } from '../readers/parsed-document.ts'
import type { Section } from './group-sections.ts'
import { BREAK_WEIGHT, getHeadingWeight, type Segment } from './segments.ts'

export type Block = Segment

interface DocumentStructure {
  blocks: Block[]
  /** The first one is the text before the first heading. */
  sections: Section[]
}

const ITEM = /[ \t]{0,12}(?:[-*+•]|\d{1,9}[.)])[ \t]+\S/y
const HEADING = / {0,3}(#{1,6})(?:[ \t]+|$)/my
/** What follows a fence of backticks contains none; otherwise it is code in a line of text. */
const FENCE = / {0,3}(`{3,}(?![^`\n]*`)|~{3,})/y
/** HTML elements whose lines are neither headings nor paragraphs. */
const RAW_ELEMENT = / {0,3}<(pre|script|style|textarea)(?=[\s>]|$)/imy
const HTML_HEADING = / {0,3}<h([1-6])(?: [^<>\n]{0,200})?>([^\n]{0,300}?)<\/h[1-6]>[ \t]*$/imy
const MAX_HEADING_LENGTH = 300

export function parseBlocks(document: ParsedDocument): DocumentStructure {
  const parser = new BlockParser(document)
  const { text, format } = document
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    if (format === 'markdown') parser.parseMarkdownLine(start, end)
    else if (format === 'code') parser.parseCodeLine(start, end)
    else if (format === 'config') parser.parseConfigLine(start, end)
    else parser.parseTextLine(start, end, format === 'table' ? 'row' : 'prose')
    start = end + 1
  }
  return parser.finish()
}

class BlockParser {
  readonly #text: string
  readonly #pages: { start: number }[]
  readonly #blocks: Block[] = []
  readonly #sections: Section[] = [{ headings: [], parent: -1 }]
  #path: { level: number; title: string; section: number }[] = []
  #block: Block | undefined
  #fence: string | undefined
  /** End tag of the raw HTML element around the line. */
  #endTag: string | undefined
  #page = 0
  #blankBefore = true
  /** Kind of the last line of a configuration file that is not empty. */
  #configLine: ConfigLine['kind'] = 'blank'
  #frontMatterEnd = 0

  constructor({ text, pages, format }: ParsedDocument) {
    this.#text = text
    this.#pages = pages
    if (format === 'markdown') this.#parseFrontMatter()
  }

  finish(): DocumentStructure {
    this.#endBlock()
    return { blocks: this.#blocks, sections: this.#sections }
  }

  parseMarkdownLine(start: number, end: number): void {
    if (start < this.#frontMatterEnd) return
    const text = this.#text
    this.#breakAtPage(start)
    if (this.#fence !== undefined) {
      if (this.#block) this.#block.end = end
      const closing = matchAt(FENCE, text, start)?.[1]
      if (closing?.startsWith(this.#fence) && text.slice(start, end).trim() === closing) {
        this.#fence = undefined
        this.#endBlock()
      }
      return
    }
    if (this.#endTag !== undefined) {
      this.#addRawLine(start, end, this.#endTag)
      return
    }
    if (isBlank(text, start, end)) {
      this.#endBlock()
      return
    }
    const rawElement = matchAt(RAW_ELEMENT, text, start)?.[1]
    if (rawElement !== undefined) {
      this.#startBlock(start, end, 'code', BREAK_WEIGHT.paragraph)
      this.#addRawLine(start, end, `</${rawElement}`)
      return
    }
    const fence = matchAt(FENCE, text, start)?.[1]
    if (fence !== undefined) {
      this.#startBlock(start, end, 'code', BREAK_WEIGHT.paragraph)
      this.#fence = fence
      return
    }
    const marks = matchAt(HEADING, text, start)
    const htmlHeading = matchAt(HTML_HEADING, text, start)
    if (htmlHeading) this.#addHeading(start, end, Number(htmlHeading[1]), htmlHeading[2] ?? '')
    else if (marks && end - start <= MAX_HEADING_LENGTH)
      this.#addHeading(start, end, marks[1]?.length ?? 1, text.slice(start + marks[0].length, end).replace(/[ \t]#{1,9}[ \t]*$/, ''))
    else if (this.#isUnderline(start, end)) this.#promoteToHeading(end, text.charCodeAt(start) === 0x3d ? 1 : 2)
    else if (text.charCodeAt(start) === 0x7c) this.#addRow(start, end)
    else this.#addProse(start, end)
  }

  parseTextLine(start: number, end: number, kind: 'prose' | 'row'): void {
    this.#breakAtPage(start)
    if (isBlank(this.#text, start, end)) this.#endBlock()
    else if (kind === 'row') {
      if (this.#block) this.#block.end = end
      else this.#startBlock(start, end, 'row', BREAK_WEIGHT.row)
    } else this.#addProse(start, end)
  }

  /** Each line of code is a block. An unindented line after an empty one starts a definition. */
  parseCodeLine(start: number, end: number): void {
    if (isBlank(this.#text, start, end)) {
      this.#blankBefore = true
      return
    }
    const first = this.#text.charCodeAt(start)
    const indented = first === 0x20 || first === 0x09
    const closing =
      /^[ \t]{0,200}[)\]}]/.test(this.#text.slice(start, Math.min(end, start + 202))) ||
      (!indented && /^(?:end|else|elif|except|finally|catch)\b/.test(this.#text.slice(start, start + 12)))
    const kind = closing ? 'closing' : !this.#blankBefore ? 'codeLine' : indented ? 'sentence' : 'paragraph'
    this.#startBlock(start, end, 'code', BREAK_WEIGHT[kind])
    this.#endBlock()
    this.#blankBefore = false
  }

  /** Each line of a configuration file is a block. A comment belongs to the setting below it. */
  parseConfigLine(start: number, end: number): void {
    const text = this.#text
    const above = text.slice(text.lastIndexOf('\n', start - 2) + 1, Math.max(0, start - 1)).slice(-MAX_HEADING_LENGTH)
    const line = classifyConfigLine(text.slice(start, Math.min(end, start + MAX_HEADING_LENGTH)), above, this.#getLine(end + 1))
    if (line.kind === 'blank') {
      this.#blankBefore = true
      return
    }
    // A banner is decoration: its title is the heading.
    if (line.kind === 'heading' && line.isBanner) this.#enterSection(1, line.title)
    else if (line.kind === 'heading') this.#addHeading(start, end, 2, line.title)
    else if (line.kind !== 'separator') {
      this.#startBlock(start, end, 'setting', BREAK_WEIGHT[this.#getConfigBreak(line.kind === 'comment', /\s/.test(text.charAt(start)))])
      this.#endBlock()
    }
    this.#configLine = line.kind
    this.#blankBefore = false
  }

  #getConfigBreak(isComment: boolean, isIndented: boolean): keyof typeof BREAK_WEIGHT {
    const previous = this.#configLine
    if (previous === 'separator' && isComment && !this.#blankBefore) return 'item'
    if (isComment) return this.#blankBefore ? (isIndented ? 'item' : 'setting') : previous === 'setting' && !isIndented ? 'row' : 'line'
    if (previous === 'comment' || previous === 'separator') return this.#blankBefore ? 'sentence' : 'closing'
    return this.#blankBefore ? (isIndented ? 'item' : 'setting') : isIndented ? 'codeLine' : 'item'
  }

  #getLine(start: number): string {
    const newline = this.#text.indexOf('\n', start)
    return this.#text.slice(start, Math.min(newline < 0 ? this.#text.length : newline, start + MAX_HEADING_LENGTH))
  }

  #parseFrontMatter(): void {
    const end = this.#text.startsWith('---\n') ? this.#text.slice(0, 10_000).indexOf('\n---\n', 3) : -1
    if (end < 0) return
    this.#frontMatterEnd = end + 4
    this.#startBlock(0, this.#frontMatterEnd, 'frontMatter', BREAK_WEIGHT.paragraph)
    this.#endBlock()
  }

  /** Adds a line of a raw HTML element, which ends with the line that contains its end tag. */
  #addRawLine(start: number, end: number, endTag: string): void {
    if (this.#block) this.#block.end = end
    const isLast = this.#text.slice(start, end).toLowerCase().includes(endTag.toLowerCase())
    this.#endTag = isLast ? undefined : endTag
    if (isLast) this.#endBlock()
  }

  #addProse(start: number, end: number): void {
    const isItem = matchAt(ITEM, this.#text, start) !== null
    if (this.#block?.kind === 'prose' && !isItem) this.#block.end = end
    else this.#startBlock(start, end, 'prose', isItem ? BREAK_WEIGHT.item : BREAK_WEIGHT.paragraph)
  }

  /** Keeps the header of a table with its first row. */
  #addRow(start: number, end: number): void {
    const previous = this.#block?.kind === 'row' ? this.#block : undefined
    const rule = previous !== undefined && /^\|(?:\s*:?-+:?\s*\|){1,500}\s*$/.test(this.#text.slice(start, Math.min(end, start + 5_000)))
    const afterRule = previous !== undefined && this.#text.startsWith('| ---', previous.start)
    const kind = previous === undefined ? 'paragraph' : rule || afterRule ? 'glue' : 'row'
    this.#startBlock(start, end, 'row', BREAK_WEIGHT[kind])
  }

  #addHeading(start: number, end: number, level: number, title: string): void {
    this.#endBlock()
    this.#enterSection(level, title)
    this.#startBlock(start, end, 'heading', getHeadingWeight(level))
    this.#endBlock()
  }

  /** Whether the line is the underline of a setext heading. */
  #isUnderline(start: number, end: number): boolean {
    const block = this.#block
    if (block?.kind !== 'prose' || block.weight === BREAK_WEIGHT.item || end - start < 2 || end - start > MAX_HEADING_LENGTH) return false
    const code = this.#text.charCodeAt(start)
    if (code !== 0x3d && code !== 0x2d) return false
    return (
      /^(?:=+|-+)[ \t]*$/.test(this.#text.slice(start, end)) &&
      !this.#text.slice(block.start, block.end).includes('\n') &&
      block.end - block.start <= MAX_HEADING_LENGTH
    )
  }

  #promoteToHeading(end: number, level: number): void {
    const block = this.#block as Block
    this.#enterSection(level, this.#text.slice(block.start, block.end))
    Object.assign(block, { end, kind: 'heading', weight: getHeadingWeight(level), section: this.#sections.length - 1 })
    this.#endBlock()
  }

  #enterSection(level: number, title: string): void {
    const plain = stripHeading(title)
    const above = this.#path.filter((heading) => heading.level < level)
    this.#path = [...above, { level, title: plain, section: this.#sections.length }]
    const headings = this.#path.map((heading) => heading.title).filter((heading) => heading !== '')
    this.#sections.push({ headings, parent: above.at(-1)?.section ?? 0 })
  }

  #startBlock(start: number, end: number, kind: Block['kind'], weight: number): void {
    this.#endBlock()
    this.#block = { start, end, kind, weight, section: this.#sections.length - 1 }
  }

  #endBlock(): void {
    if (this.#block) this.#blocks.push(this.#block)
    this.#block = undefined
  }

  /** A block ends with its page. */
  #breakAtPage(start: number): void {
    let turned = false
    while ((this.#pages[this.#page]?.start ?? Number.POSITIVE_INFINITY) <= start) {
      this.#page++
      turned = true
    }
    if (turned && this.#fence === undefined && this.#endTag === undefined) this.#endBlock()
  }
}

/** Removes markup, images and anchors from a heading. */
function stripHeading(title: string): string {
  return title
    .replaceAll(/!\[[^\][]{0,200}\](?:\([^()]{0,500}\)|\[[^\][]{0,200}\])/g, '')
    .replaceAll(/\[([^\][]{0,200})\](?:\([^()]{0,500}\)|\[[^\][]{0,200}\])/g, '$1')
    .replaceAll(/<\/?(?:a|b|br|center|code|em|font|i|img|kbd|small|span|strong|sub|sup|u)(?: [^<>]{0,300})?\/?>|<!--.{0,300}?-->/gi, '')
    .replaceAll(/[*`]{1,3}|(?<![\p{L}\p{N}])_{1,3}|_{1,3}(?![\p{L}\p{N}])/gu, '')
    .replace(/\{#[^{}\s]{1,100}\}\s*$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position
  return pattern.exec(text)
}

function isBlank(text: string, start: number, end: number): boolean {
  for (let position = start; position < end; position++) {
    const code = text.charCodeAt(position)
    if (code !== 0x20 && code !== 0x09 && (code < 0x80 || !/\s/.test(text.charAt(position)))) return false
  }
  return true
}
