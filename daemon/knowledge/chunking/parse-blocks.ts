/** Parses a document into blocks: headings, paragraphs, list items, table rows and code. */
import type { ParsedDocument } from '../readers/parsed-document.ts'
import { BREAK_WEIGHT, getHeadingWeight, type Segment } from './segments.ts'

export type Block = Segment

export interface DocumentStructure {
  blocks: Block[]
  /** Heading paths; the first one is empty. */
  paths: string[][]
}

const ITEM = /[ \t]{0,12}(?:[-*+•]|\d{1,9}[.)])[ \t]+\S/y
const HEADING = / {0,3}(#{1,6})(?:[ \t]+|$)/my
const FENCE = / {0,3}(`{3,}|~{3,})/y
const MAX_HEADING_LENGTH = 300

export function parseBlocks(document: ParsedDocument): DocumentStructure {
  const parser = new BlockParser(document)
  const { text, format } = document
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    if (format === 'markdown') parser.parseMarkdownLine(start, end)
    else if (format === 'code') parser.parseCodeLine(start, end)
    else parser.parseTextLine(start, end, format === 'table' ? 'row' : 'prose')
    start = end + 1
  }
  return parser.finish()
}

class BlockParser {
  readonly #text: string
  readonly #pages: { start: number }[]
  readonly #blocks: Block[] = []
  readonly #paths: string[][] = [[]]
  #path: { level: number; title: string }[] = []
  #block: Block | undefined
  #fence: string | undefined
  #page = 0
  #blankBefore = true
  #frontMatterEnd = 0

  constructor({ text, pages, format }: ParsedDocument) {
    this.#text = text
    this.#pages = pages
    if (format === 'markdown') this.#parseFrontMatter()
  }

  finish(): DocumentStructure {
    this.#endBlock()
    return { blocks: this.#blocks, paths: this.#paths }
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
    if (isBlank(text, start, end)) {
      this.#endBlock()
      return
    }
    const fence = matchAt(FENCE, text, start)?.[1]
    if (fence !== undefined) {
      this.#startBlock(start, end, 'code', BREAK_WEIGHT.paragraph)
      this.#fence = fence
      return
    }
    const marks = matchAt(HEADING, text, start)
    if (marks && end - start <= MAX_HEADING_LENGTH)
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

  #parseFrontMatter(): void {
    const end = this.#text.startsWith('---\n') ? this.#text.slice(0, 10_000).indexOf('\n---\n', 3) : -1
    if (end < 0) return
    this.#frontMatterEnd = end + 4
    this.#startBlock(0, this.#frontMatterEnd, 'code', BREAK_WEIGHT.paragraph)
    this.#endBlock()
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
    Object.assign(block, { end, kind: 'heading', weight: getHeadingWeight(level), section: this.#paths.length - 1 })
    this.#endBlock()
  }

  #enterSection(level: number, title: string): void {
    const plain = title.replaceAll(/[*_`]{1,3}|\[([^\][]{0,200})\]\([^()]{0,500}\)/g, '$1').trim()
    this.#path = [...this.#path.filter((above) => above.level < level), { level, title: plain }]
    this.#paths.push(this.#path.map((heading) => heading.title).filter((heading) => heading !== ''))
  }

  #startBlock(start: number, end: number, kind: Block['kind'], weight: number): void {
    this.#endBlock()
    this.#block = { start, end, kind, weight, section: this.#paths.length - 1 }
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
    if (turned && this.#fence === undefined) this.#endBlock()
  }
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
