/** Finds the structure of a document: headings with their paths, paragraphs, items, rows and code. */

import type { ParsedDocument } from '../readers/parsed-document.ts'
import { headingWeight, WEIGHT } from './atoms.ts'

export interface Block {
  start: number
  end: number
  kind: 'heading' | 'prose' | 'row' | 'code'
  weight: number
  section: number
}

export interface Structure {
  blocks: Block[]
  /** Heading paths; the first is the empty one. */
  paths: string[][]
}

const ITEM = /[ \t]{0,12}(?:[-*+•]|\d{1,9}[.)])[ \t]+\S/y
const HEADING = / {0,3}(#{1,6})(?:[ \t]+|$)/my
const FENCE = / {0,3}(`{3,}|~{3,})/y
const LONGEST_HEADING = 300

export function structureOf(document: ParsedDocument): Structure {
  const scanner = new Scanner(document)
  const { text, format } = document
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    if (format === 'markdown') scanner.markdown(start, end)
    else if (format === 'code') scanner.code(start, end)
    else scanner.paragraphs(start, end, format === 'table' ? 'row' : 'prose')
    start = end + 1
  }
  return scanner.finish()
}

class Scanner {
  readonly #text: string
  readonly #pages: { start: number }[]
  readonly #blocks: Block[] = []
  readonly #paths: string[][] = [[]]
  #path: { level: number; title: string }[] = []
  #block: Block | undefined
  #fence: string | undefined
  #page = 0
  #blankBefore = true
  /** Where the front matter ends, which is a block of its own. */
  #matter = 0

  constructor({ text, pages, format }: ParsedDocument) {
    this.#text = text
    this.#pages = pages
    if (format === 'markdown') this.#frontMatter()
  }

  finish(): Structure {
    this.#end()
    return { blocks: this.#blocks, paths: this.#paths }
  }

  markdown(start: number, end: number): void {
    if (start < this.#matter) return
    const text = this.#text
    this.#breakAtPage(start)
    if (this.#fence !== undefined) {
      if (this.#block) this.#block.end = end
      const closing = matchAt(FENCE, text, start)?.[1]
      if (closing?.startsWith(this.#fence) && text.slice(start, end).trim() === closing) {
        this.#fence = undefined
        this.#end()
      }
      return
    }
    if (isBlank(text, start, end)) {
      this.#end()
      return
    }
    const fence = matchAt(FENCE, text, start)?.[1]
    if (fence !== undefined) {
      this.#begin(start, end, 'code', WEIGHT.paragraph)
      this.#fence = fence
      return
    }
    const marks = matchAt(HEADING, text, start)
    if (marks && end - start <= LONGEST_HEADING)
      this.#heading(start, end, marks[1]?.length ?? 1, text.slice(start + marks[0].length, end).replace(/[ \t]#{1,9}[ \t]*$/, ''))
    else if (this.#underlines(start, end)) this.#promote(end, text.charCodeAt(start) === 0x3d ? 1 : 2)
    else if (text.charCodeAt(start) === 0x7c) this.#row(start, end)
    else this.#prose(start, end)
  }

  paragraphs(start: number, end: number, kind: 'prose' | 'row'): void {
    this.#breakAtPage(start)
    if (isBlank(this.#text, start, end)) this.#end()
    else if (kind === 'row') {
      if (this.#block) this.#block.end = end
      else this.#begin(start, end, 'row', WEIGHT.row)
    } else this.#prose(start, end)
  }

  /** A line of code is a block; one that starts at the margin after an empty line starts a definition. */
  code(start: number, end: number): void {
    if (isBlank(this.#text, start, end)) {
      this.#blankBefore = true
      return
    }
    const first = this.#text.charCodeAt(start)
    const indented = first === 0x20 || first === 0x09
    const closing =
      /^[ \t]{0,200}[)\]}]/.test(this.#text.slice(start, Math.min(end, start + 202))) ||
      (!indented && /^(?:end|else|elif|except|finally|catch)\b/.test(this.#text.slice(start, start + 12)))
    const weight = closing ? WEIGHT.closing : this.#blankBefore ? (indented ? WEIGHT.sentence : WEIGHT.paragraph) : WEIGHT.codeLine
    this.#begin(start, end, 'code', weight)
    this.#end()
    this.#blankBefore = false
  }

  #frontMatter(): void {
    const end = this.#text.startsWith('---\n') ? this.#text.slice(0, 10_000).indexOf('\n---\n', 3) : -1
    if (end < 0) return
    this.#matter = end + 4
    this.#begin(0, this.#matter, 'code', WEIGHT.paragraph)
    this.#end()
  }

  #prose(start: number, end: number): void {
    const isItem = matchAt(ITEM, this.#text, start) !== null
    if (this.#block?.kind === 'prose' && !isItem) this.#block.end = end
    else this.#begin(start, end, 'prose', isItem ? WEIGHT.item : WEIGHT.paragraph)
  }

  /** The head of a table stays with its first row. */
  #row(start: number, end: number): void {
    const previous = this.#block?.kind === 'row' ? this.#block : undefined
    const rule = previous !== undefined && /^\|(?:\s*:?-+:?\s*\|){1,500}\s*$/.test(this.#text.slice(start, Math.min(end, start + 5_000)))
    const afterRule = previous !== undefined && this.#text.startsWith('| ---', previous.start)
    this.#begin(start, end, 'row', previous === undefined ? WEIGHT.paragraph : rule || afterRule ? WEIGHT.glue : WEIGHT.row)
  }

  #heading(start: number, end: number, level: number, title: string): void {
    this.#end()
    this.#enter(level, title)
    this.#begin(start, end, 'heading', headingWeight(level))
    this.#end()
  }

  /** A line of = or - under a single line makes that line a heading. */
  #underlines(start: number, end: number): boolean {
    const block = this.#block
    if (block?.kind !== 'prose' || block.weight === WEIGHT.item || end - start < 2 || end - start > LONGEST_HEADING) return false
    const code = this.#text.charCodeAt(start)
    if (code !== 0x3d && code !== 0x2d) return false
    return (
      /^(?:=+|-+)[ \t]*$/.test(this.#text.slice(start, end)) &&
      !this.#text.slice(block.start, block.end).includes('\n') &&
      block.end - block.start <= LONGEST_HEADING
    )
  }

  #promote(end: number, level: number): void {
    const block = this.#block as Block
    this.#enter(level, this.#text.slice(block.start, block.end))
    Object.assign(block, { end, kind: 'heading', weight: headingWeight(level), section: this.#paths.length - 1 })
    this.#end()
  }

  #enter(level: number, title: string): void {
    const plain = title.replaceAll(/[*_`]{1,3}|\[([^\][]{0,200})\]\([^()]{0,500}\)/g, '$1').trim()
    this.#path = [...this.#path.filter((above) => above.level < level), { level, title: plain }]
    this.#paths.push(this.#path.map((heading) => heading.title).filter((heading) => heading !== ''))
  }

  #begin(start: number, end: number, kind: Block['kind'], weight: number): void {
    this.#end()
    this.#block = { start, end, kind, weight, section: this.#paths.length - 1 }
  }

  #end(): void {
    if (this.#block) this.#blocks.push(this.#block)
    this.#block = undefined
  }

  /** What goes over a page's end is two blocks. */
  #breakAtPage(start: number): void {
    let turned = false
    while ((this.#pages[this.#page]?.start ?? Number.POSITIVE_INFINITY) <= start) {
      this.#page++
      turned = true
    }
    if (turned && this.#fence === undefined) this.#end()
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x09 && (code < 0x80 || !/\s/.test(text.charAt(at)))) return false
  }
  return true
}
