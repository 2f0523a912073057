/** Writes Markdown block by block, for the HTML, Word and e-book readers. */

/** A table with longer cells is used for layout, not for data. */
export const MAX_CELL_LENGTH = 1_000
const MAX_LIST_INDENT = 6

export class MarkdownWriter {
  readonly #output: string[] = []
  #length = 0
  #line: string[] = []
  /** Whether the line is empty or ends in whitespace; kept separately so that the parts need not be joined. */
  #endsInSpace = true
  #prefix = ''
  #quoteDepth = 0
  readonly #lists: { ordered: boolean; next: number }[] = []
  #isTight = false

  /** Length of the blocks that are complete. The next block starts after it and the newlines between them. */
  get length(): number {
    return this.#length
  }

  /** Appends text to the current line and collapses whitespace. */
  writeText(text: string): void {
    const normalized = text.replaceAll(/[\u00ad\u200b]/g, '').replaceAll(/[\t\n\r \u00a0]+/g, ' ')
    const part = this.#endsInSpace ? normalized.trimStart() : normalized
    if (part === '') return
    this.#line.push(part)
    this.#endsInSpace = part.endsWith(' ')
  }

  writeNewline(): void {
    if (this.#line.length === 0) return
    this.#line.push('\n')
    this.#endsInSpace = true
  }

  /** Ends the name of what the following text is about. */
  endTerm(): void {
    const end = this.#line.at(-1)?.trimEnd()
    if (end !== undefined && !/[.:!?…]$/.test(end)) this.writeText(': ')
  }

  #takeLine(): string {
    const text = this.#line
      .join('')
      .replaceAll(/ ?\n+ ?/g, '\n')
      .trim()
    this.#line = []
    this.#endsInSpace = true
    return text
  }

  endParagraph(): void {
    const text = this.#takeLine()
    if (text === '') return
    const indent = '  '.repeat(Math.min(this.#lists.length, MAX_LIST_INDENT))
    const hanging = this.#prefix === '' ? indent : indent.slice(2)
    this.#writeBlock(this.#prefix + text.replaceAll('\n', `\n${indent}`), hanging, this.#prefix !== '' && this.#isTight)
    if (this.#lists.length > 0) this.#isTight = true
    this.#prefix = ''
  }

  /** Writes the current line as a heading. */
  endHeading(level: number): void {
    const text = this.#takeLine().replaceAll(/\s+/g, ' ')
    this.#prefix = ''
    if (text !== '') this.#writeBlock(`${'#'.repeat(Math.min(Math.max(level, 1), 6))} ${text}`, '', false)
  }

  startList(ordered: boolean, start = 1): void {
    this.endParagraph()
    if (this.#lists.length === 0) this.#isTight = false
    this.#lists.push({ ordered, next: start })
  }

  endList(): void {
    this.endParagraph()
    this.#lists.pop()
    this.#prefix = ''
    if (this.#lists.length === 0) this.#isTight = false
  }

  startItem(): void {
    this.endParagraph()
    const list = this.#lists.at(-1)
    this.#prefix = list?.ordered ? `${list.next++}. ` : '- '
  }

  startQuote(): void {
    this.endParagraph()
    this.#quoteDepth = Math.min(this.#quoteDepth + 1, 3)
  }

  endQuote(): void {
    this.endParagraph()
    this.#quoteDepth = Math.max(0, this.#quoteDepth - 1)
  }

  writeCode(text: string, language: string): void {
    this.endParagraph()
    const body = text.replace(/^\n+/, '').trimEnd()
    if (body === '') return
    const fence = body.includes('```') ? '~~~~' : '```'
    this.#writeBlock(`${fence}${language}\n${body}\n${fence}`, '', false)
  }

  /** Writes a table; the first row is the header. Returns the offset of each row. */
  writeTable(rows: string[][]): number[] {
    this.endParagraph()
    const width = rows.reduce((longest, row) => Math.max(longest, row.length), 0)
    const lines = rows.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    if (width > 1) lines.splice(1, 0, `|${' --- |'.repeat(rows[0]?.length ?? width)}`)
    const table = lines.join('\n')
    if (rows.length > 0) this.#writeBlock(table, '', false)
    let next = this.#length - table.length
    const offsets = lines.map((line) => {
      const offset = next
      next += line.length + 1
      return offset
    })
    return width > 1 ? offsets.filter((_, index) => index !== 1) : offsets
  }

  finish(): string {
    this.endParagraph()
    return this.#output.join('')
  }

  #writeBlock(text: string, indent: string, tight: boolean): void {
    const quote = '> '.repeat(this.#quoteDepth)
    const written = quote === '' ? indent + text : (indent + text).replaceAll(/^/gm, quote)
    const gap = this.#length === 0 ? '' : tight ? '\n' : '\n\n'
    this.#output.push(gap, written)
    this.#length += gap.length + written.length
  }
}
