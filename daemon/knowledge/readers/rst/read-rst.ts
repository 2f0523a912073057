/** Reads reStructuredText as Markdown, block by block. */
import { MarkdownWriter } from '../markdown-writer.ts'
import { cleanText, type ParsedDocument } from '../parsed-document.ts'
import { findMarkdownTitle } from '../read-text.ts'
import { convertDirective } from './convert-directive.ts'
import { convertInline, normalizeName, type RstNames } from './convert-inline.ts'
import { isGridBorder, isSimpleBorder, parseGridTable, parseSimpleTable } from './convert-table.ts'
import { dedentLines, formatFence, isUnderline, measureIndent, parseHeading } from './rst-lines.ts'

/** Bodies that are nested deeper remain as they are, because each level is read once more. */
const MAX_DEPTH = 8
/** Each use of a longer replacement would repeat it. */
const MAX_NAMED_LENGTH = 100
const MAX_INDENT = 12
const MARKUP = /^\.\.(?:[ \t]|$)|^__[ \t]/
const DIRECTIVE = /^\.\.[ \t]+([a-z][\w.+-]{0,40}(?::[\w.+-]{1,40}){0,2})[ \t]?::(?:[ \t]+(.*))?$/i
const NOTE = /^\.\.[ \t]+(\[[^\]\s]{1,60}\])(?:[ \t]+(.*))?$/
const LABEL = /^\.\.[ \t]+_([^:`]{1,100}):[ \t]*$/
const REPLACEMENT = /^\.\.[ \t]+\|([^|]{1,60})\|[ \t]+replace::[ \t]*(.*)$/
const MARKER = /^[ \t]*(?:[-*+•]|(?:\d{1,9}|#|[a-z])[.)])[ \t]+/i
const TARGET = /^__[ \t]|^\.\.[ \t]+_/
/** What the lines of a literal block without indentation start with. */
const QUOTE = /^[$#>%|&+;!<-]/
/** The colon that is left of the announcement of code does not end a text. */
const CODE_MARK = /(?:^|[ \t]):$/
const FIELD = /^([ \t]*):([^\s:`][^:`]{0,60}):(?:[ \t]+(.*))?$/
/** Fields for the program that shows the document. */
const HIDDEN_FIELD = /^:(?:orphan|nocomments|nosearch|tocdepth):/

export function readRst(source: string): ParsedDocument {
  const lines = cleanText(source).split('\n')
  const document = { names: findNames(lines), levels: [] }
  const text = new BlockConverter(lines, document, 0, 0).convert().join('\n')
  return { text, format: 'markdown', pages: [], title: findMarkdownTitle(text) }
}

function findNames(lines: readonly string[]): RstNames {
  const names: RstNames = { replacements: new Map(), titles: new Map() }
  let labels: string[] = []
  const define = (map: Map<string, string>, name: string, text: string) => {
    const value = text.length <= MAX_NAMED_LENGTH ? convertInline(text, names) : ''
    // Without this bound, names that contain names would grow exponentially.
    if (value !== '' && value.length <= MAX_NAMED_LENGTH) map.set(name, value)
  }
  for (const [index, line] of lines.entries()) {
    const [, replaced, replacement = ''] = REPLACEMENT.exec(line) ?? []
    const label = LABEL.exec(line)?.[1]
    if (replaced !== undefined) {
      let end = index + 1
      while (/^[ \t]+\S/.test(lines[end] ?? '')) end++
      const parts = [replacement, ...lines.slice(index + 1, end)].map((part) => part.trim())
      define(names.replacements, replaced, parts.join(' ').trim())
    }
    if (label !== undefined) labels.push(normalizeName(label))
    else if (labels.length > 0 && line.trim() !== '') {
      const { title = '' } = parseHeading(lines, index) ?? {}
      for (const name of labels) define(names.titles, name, title)
      labels = []
    }
  }
  return names
}

interface RstDocument {
  names: RstNames
  /** The marks of headings, in the order of their levels. */
  levels: string[]
}

class BlockConverter {
  readonly #lines: readonly string[]
  readonly #document: RstDocument
  readonly #depth: number
  /** Of the last heading. Undefined where no section may begin. */
  #level: number | undefined
  readonly #output: string[] = []
  #index = 0
  /** Numbers of the lists around a line, the outermost first. */
  readonly #lists: { indent: number; number: number }[] = []

  constructor(lines: readonly string[], document: RstDocument, depth: number, level: number | undefined) {
    this.#lines = lines
    this.#document = document
    this.#depth = depth
    this.#level = level
  }

  convert(): string[] {
    while (this.#index < this.#lines.length) {
      if (this.#isBlank(this.#index)) {
        this.#addBlank()
        this.#index++
      } else if (!this.#convertHeading() && !this.#convertMarkup() && !this.#convertTable() && !this.#convertSession())
        this.#convertParagraph()
    }
    if (this.#output.at(-1) === '') this.#output.pop()
    return this.#output
  }

  convertBody(lines: readonly string[], level?: number): string[] {
    return this.#depth === MAX_DEPTH ? [...lines] : new BlockConverter(lines, this.#document, this.#depth + 1, level).convert()
  }

  formatTable(rows: readonly string[][]): string[] {
    if (rows.length === 0) return []
    const writer = new MarkdownWriter()
    writer.writeTable(rows.map((row) => row.map((cell) => this.#convertText(cell.replaceAll(/\s+/g, ' ')).replaceAll('\\|', '|'))))
    return writer.finish().split('\n')
  }

  #convertHeading(): boolean {
    const heading = parseHeading(this.#lines, this.#index)
    if (!heading) return false
    const { levels } = this.#document
    if (!levels.includes(heading.mark)) levels.push(heading.mark)
    const level = Math.min(levels.indexOf(heading.mark) + 1, 6)
    this.#output.push(`${'#'.repeat(level)} ${this.#convertText(heading.title)}`)
    if (this.#level !== undefined) this.#level = level
    this.#index += heading.lineCount
    this.#lists.length = 0
    return true
  }

  /** Converts a directive or footnote. Comments, targets of links and definitions are removed. */
  #convertMarkup(): boolean {
    const line = this.#getLine(this.#index)
    const text = line.trim()
    if (!MARKUP.test(text)) return false
    const [, name, argument = ''] = DIRECTIVE.exec(text) ?? []
    const [, note, noteText = ''] = NOTE.exec(text) ?? []
    this.#index++
    const isAlone = text === '..' && this.#isBlank(this.#index)
    const body = isAlone ? [] : this.#takeBody(measureIndent(line), TARGET.test(text))
    if (name !== undefined) {
      const level = measureIndent(line) === 0 && this.#endsSection() ? this.#level : undefined
      this.#addBlock(convertDirective({ name: name.toLowerCase(), argument, body }, this, level), line)
    } else if (note !== undefined) {
      const [first = '', ...rest] = this.convertBody([noteText, ...body])
      this.#addBlock([`${note} ${first}`, ...rest], line)
    }
    return true
  }

  /** Whether the next text is that of a heading or directive: other text would look like a part of the section above it. */
  #endsSection(): boolean {
    let next = this.#index
    while (next < this.#lines.length && this.#isBlank(next)) next++
    return next === this.#lines.length || MARKUP.test(this.#getLine(next)) || parseHeading(this.#lines, next) !== undefined
  }

  #convertTable(): boolean {
    const line = this.#getLine(this.#index)
    const isGrid = isGridBorder(line)
    const end = isGrid ? this.#findGridEnd() : this.#findSimpleTableEnd()
    if (end === this.#index) return false
    const lines = dedentLines(this.#lines.slice(this.#index, end)).map((row) => row.trimEnd())
    const rows = isGrid ? parseGridTable(lines) : parseSimpleTable(lines)
    this.#addBlock(rows ? this.formatTable(rows) : lines, line)
    this.#index = end
    return true
  }

  #findGridEnd(): number {
    let end = this.#index
    while (/^[ \t]*[+|]/.test(this.#getLine(end))) end++
    return end
  }

  /** The third border ends a table, or one above an empty line. */
  #findSimpleTableEnd(): number {
    let borders = 0
    for (let at = this.#index; at < this.#lines.length; at++) {
      if (isSimpleBorder(this.#getLine(at).trim())) borders++
      else if (borders === 0) break
      else continue
      if (borders === 3 || (borders === 2 && this.#isBlank(at + 1))) return at + 1
    }
    return this.#index
  }

  /** Converts a session of the Python interpreter. */
  #convertSession(): boolean {
    const line = this.#getLine(this.#index)
    if (!/^[ \t]*>>> /.test(line)) return false
    const start = this.#index
    while (!this.#isBlank(this.#index)) this.#index++
    this.#addBlock(formatFence(this.#lines.slice(start, this.#index), 'python'), line)
    return true
  }

  /** Converts a paragraph or list without empty lines, and the code that it announces. */
  #convertParagraph(): void {
    const start = this.#index++
    while (!this.#startsBlock(this.#index)) this.#index++
    const paragraph = this.#lines.slice(start, this.#index)
    const last = paragraph.at(-1) ?? ''
    const announcesCode = last.trimEnd().endsWith('::') && this.#isBlank(this.#index)
    if (announcesCode) paragraph[paragraph.length - 1] = last.trimEnd().slice(0, -1).replace(CODE_MARK, '')
    const text = paragraph.flatMap((line) => (HIDDEN_FIELD.test(line) ? [] : this.#convertLine(line))).join('\n')
    for (const line of this.#convertText(text).split('\n')) {
      if (line.trim() === '') this.#addBlank()
      else this.#output.push(escapeLine(line))
    }
    if (announcesCode) this.#convertLiteral(MARKER.exec(last)?.[0].replaceAll(/\S/g, ' ') ?? last)
  }

  /** Converts the code below a paragraph: it is indented, or all lines start with the same mark. */
  #convertLiteral(above: string): void {
    while (this.#index < this.#lines.length && this.#isBlank(this.#index)) this.#index++
    const line = this.#getLine(this.#index)
    const mark = QUOTE.exec(line.trimStart())?.[0]
    let code = this.#takeBody(measureIndent(above))
    if (code.length === 0 && mark !== undefined && measureIndent(line) === measureIndent(above)) {
      const start = this.#index
      while (this.#getLine(this.#index).trimStart().startsWith(mark)) this.#index++
      code = this.#lines.slice(start, this.#index)
    }
    this.#addBlock(formatFence(code, ''), above)
  }

  #convertLine(line: string): string {
    const indent = measureIndent(line)
    while ((this.#lists.at(-1)?.indent ?? -1) > indent) this.#lists.pop()
    const [, number, mark] = /^[ \t]*(#|\d{1,9})([.)])[ \t]/.exec(line) ?? []
    const [, fieldIndent, name, value = ''] = FIELD.exec(line) ?? []
    if (number !== undefined) return line.replace(number + mark, this.#countItem(indent, number) + (mark ?? ''))
    if (this.#lists.at(-1)?.indent === indent) this.#lists.pop()
    if (name !== undefined) return `${fieldIndent}${name}: ${value}`
    const text = line.trim()
    const isVerse = text === '|' || (/^\|[ \t]/.test(text) && !text.endsWith('|'))
    if (isVerse) return line.replace(/\|[ \t]*/, '')
    // In Markdown, the mark would open code.
    return isUnderline(text) && /^(?:~|`{4})/.test(text) ? '---' : line
  }

  /** Returns the number of an item, which continues those above it. */
  #countItem(indent: number, given: string): number {
    const open = this.#lists.at(-1)
    const list = open?.indent === indent ? open : { indent, number: 0 }
    if (list !== open) this.#lists.push(list)
    list.number = given === '#' ? list.number + 1 : Number(given)
    return list.number
  }

  /** Whether a line ends the paragraph above it. Directives are recognized also without an empty line above them. */
  #startsBlock(index: number): boolean {
    const line = this.#getLine(index)
    const text = line.trim()
    if (text === '' || DIRECTIVE.test(text) || TARGET.test(text) || isGridBorder(line)) return true
    return parseHeading(this.#lines, index) !== undefined
  }

  /** Takes the lines that are indented more, without their indentation. */
  #takeBody(indent: number, endsAtBlank = false): string[] {
    const start = this.#index
    for (let at = start; at < this.#lines.length; at++) {
      const isBlank = this.#isBlank(at)
      if (isBlank ? endsAtBlank : measureIndent(this.#getLine(at)) <= indent) break
      if (!isBlank) this.#index = at + 1
    }
    return dedentLines(this.#lines.slice(start, this.#index))
  }

  /** @param above a line with the indentation of the block */
  #addBlock(lines: readonly string[], above: string): void {
    const indent = ' '.repeat(Math.min(measureIndent(above), MAX_INDENT))
    this.#addBlank()
    for (const line of lines) this.#output.push(line === '' ? '' : indent + line)
    this.#addBlank()
  }

  #addBlank(): void {
    if (this.#output.length > 0 && this.#output.at(-1) !== '') this.#output.push('')
  }

  #convertText(text: string): string {
    return convertInline(text, this.#document.names)
  }

  #getLine(index: number): string {
    return this.#lines[index] ?? ''
  }

  #isBlank(index: number): boolean {
    return this.#getLine(index).trim() === ''
  }
}

/** Escapes what begins a heading or a row of a table in Markdown. */
function escapeLine(line: string): string {
  const text = line.trim()
  const isMarked = /^#{1,6}(?:\s|$)/.test(text) || (text.startsWith('|') && !text.endsWith('|'))
  return isMarked ? line.replace(text, () => `\\${text}`) : line
}
