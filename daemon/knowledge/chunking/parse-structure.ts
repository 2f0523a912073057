/** Parses a document into blocks: headings, paragraphs, list items, table rows, code and settings. */
import { type ConfigLine, classifyConfigLine } from '../../language/classify-config-line.ts'
import { isItem, type MarkdownBlock, parseMarkdown, stripMarkdown } from '../../language/parse-markdown.ts'
import type { ParsedDocument } from '../readers/parsed-document.ts'
import type { Section } from './group-sections.ts'
import { BREAK_WEIGHT, getHeadingWeight, type Segment } from './segments.ts'

export type Block = Segment

interface DocumentStructure {
  blocks: Block[]
  /** The first one is the text before the first heading. */
  sections: Section[]
}

const MAX_LINE_LENGTH = 300

export function parseStructure(document: ParsedDocument): DocumentStructure {
  const parser = new BlockParser(document)
  const { text, format } = document
  if (format === 'markdown') parser.parseMarkdown()
  for (let start = 0; format !== 'markdown' && start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    if (format === 'code') parser.parseCodeLine(start, end)
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
  #page = 0
  #blankBefore = true
  /** Kind of the last line of a configuration file that is not empty. */
  #configLine: ConfigLine['kind'] = 'blank'

  constructor({ text, pages }: ParsedDocument) {
    this.#text = text
    this.#pages = pages
  }

  finish(): DocumentStructure {
    this.#endBlock()
    return { blocks: this.#blocks, sections: this.#sections }
  }

  parseMarkdown(): void {
    let previous: MarkdownBlock | undefined
    for (const block of parseMarkdown(this.#text, { breaks: this.#pages.map(({ start }) => start) })) {
      const { kind, start, end, level, title } = block
      if (kind === 'heading') this.#addHeading(start, end, level, title)
      else if (kind === 'row') this.#startBlock(start, end, kind, BREAK_WEIGHT[this.#getRowBreak(block, previous)])
      else if (kind === 'item') this.#startBlock(start, end, 'prose', BREAK_WEIGHT.item)
      else if (kind === 'frontMatter') this.#startBlock(start, end, kind, BREAK_WEIGHT.paragraph)
      else this.#startBlock(start, end, kind === 'code' || kind === 'html' ? 'code' : 'prose', BREAK_WEIGHT.paragraph)
      previous = block
    }
  }

  /** Keeps the header of a table with its first row. */
  #getRowBreak({ start }: MarkdownBlock, previous: MarkdownBlock | undefined): 'paragraph' | 'glue' | 'row' {
    if (previous?.kind !== 'row' || previous.end + 1 < start) return 'paragraph'
    return this.#text.slice(previous.start, previous.end).includes('\n') ? 'glue' : 'row'
  }

  parseTextLine(start: number, end: number, kind: 'prose' | 'row'): void {
    this.#breakAtPage(start)
    if (this.#isBlank(start, end)) this.#endBlock()
    else if (kind === 'row') {
      if (this.#block) this.#block.end = end
      else this.#startBlock(start, end, 'row', BREAK_WEIGHT.row)
    } else this.#addProse(start, end)
  }

  /** Each line of code is a block. An unindented line after an empty one starts a definition. */
  parseCodeLine(start: number, end: number): void {
    if (this.#isBlank(start, end)) {
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
    const above = text.slice(text.lastIndexOf('\n', start - 2) + 1, Math.max(0, start - 1)).slice(-MAX_LINE_LENGTH)
    const line = classifyConfigLine(text.slice(start, Math.min(end, start + MAX_LINE_LENGTH)), above, this.#getLine(end + 1))
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
    return this.#text.slice(start, Math.min(newline < 0 ? this.#text.length : newline, start + MAX_LINE_LENGTH))
  }

  #addProse(start: number, end: number): void {
    const startsItem = isItem(this.#text.slice(start, end))
    if (this.#block?.kind === 'prose' && !startsItem) this.#block.end = end
    else this.#startBlock(start, end, 'prose', startsItem ? BREAK_WEIGHT.item : BREAK_WEIGHT.paragraph)
  }

  #addHeading(start: number, end: number, level: number, title: string): void {
    this.#endBlock()
    this.#enterSection(level, title)
    this.#startBlock(start, end, 'heading', getHeadingWeight(level))
    this.#endBlock()
  }

  #enterSection(level: number, title: string): void {
    const plain = stripMarkdown(title).replace(/\s*\{#[^{}\s]{1,100}\}$/, '')
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
    while ((this.#pages[this.#page]?.start ?? Number.POSITIVE_INFINITY) <= start) {
      this.#page++
      this.#endBlock()
    }
  }

  #isBlank(start: number, end: number): boolean {
    return this.#text.slice(start, end).trim() === ''
  }
}
