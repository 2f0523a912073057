/** Writes markdown block by block: what HTML, Word and e-book readers have in common. */

const DEEPEST_LIST = 6

export class MarkdownWriter {
  readonly #out: string[] = []
  #length = 0
  #line: string[] = []
  /** Whether the line is empty or ends in whitespace; asking the line itself would join it again and again. */
  #spaced = true
  #prefix = ''
  #quotes = 0
  readonly #lists: { ordered: boolean; next: number }[] = []
  #tight = false

  /** Where the next block will start. */
  get length(): number {
    return this.#length + (this.#length > 0 ? 2 : 0)
  }

  /** Running text: whitespace counts as one space. */
  text(text: string): void {
    const whole = text.replaceAll(/[\u00ad\u200b]/g, '').replaceAll(/[\t\n\r \u00a0]+/g, ' ')
    const folded = this.#spaced ? whole.trimStart() : whole
    if (folded === '') return
    this.#line.push(folded)
    this.#spaced = folded.endsWith(' ')
  }

  newline(): void {
    if (this.#line.length === 0) return
    this.#line.push('\n')
    this.#spaced = true
  }

  #taken(): string {
    const text = this.#line
      .join('')
      .replaceAll(/ ?\n+ ?/g, '\n')
      .trim()
    this.#line = []
    this.#spaced = true
    return text
  }

  /** Ends the paragraph that is being written. */
  paragraph(): void {
    const text = this.#taken()
    if (text === '') return
    const indent = '  '.repeat(Math.min(this.#lists.length, DEEPEST_LIST))
    const hanging = this.#prefix === '' ? indent : indent.slice(2)
    this.#block(this.#prefix + text.replaceAll('\n', `\n${indent}`), hanging, this.#prefix !== '' && this.#tight)
    if (this.#lists.length > 0) this.#tight = true
    this.#prefix = ''
  }

  heading(level: number): void {
    const text = this.#taken().replaceAll(/\s+/g, ' ')
    this.#prefix = ''
    if (text !== '') this.#block(`${'#'.repeat(Math.min(Math.max(level, 1), 6))} ${text}`, '', false)
  }

  startList(ordered: boolean, start = 1): void {
    this.paragraph()
    if (this.#lists.length === 0) this.#tight = false
    this.#lists.push({ ordered, next: start })
  }

  endList(): void {
    this.paragraph()
    this.#lists.pop()
    this.#prefix = ''
    if (this.#lists.length === 0) this.#tight = false
  }

  item(): void {
    this.paragraph()
    const list = this.#lists.at(-1)
    this.#prefix = list?.ordered ? `${list.next++}. ` : '- '
  }

  startQuote(): void {
    this.paragraph()
    this.#quotes = Math.min(this.#quotes + 1, 3)
  }

  endQuote(): void {
    this.paragraph()
    this.#quotes = Math.max(0, this.#quotes - 1)
  }

  code(text: string, language: string): void {
    this.paragraph()
    const body = text.replace(/^\n+/, '').trimEnd()
    if (body === '') return
    const fence = body.includes('```') ? '~~~~' : '```'
    this.#block(`${fence}${language}\n${body}\n${fence}`, '', false)
  }

  /** A table whose first row heads it; cells are text. */
  table(rows: string[][]): void {
    this.paragraph()
    const width = Math.max(...rows.map((row) => row.length))
    const lines = rows.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    if (width > 1) lines.splice(1, 0, `|${' --- |'.repeat(rows[0]?.length ?? width)}`)
    if (rows.length > 0) this.#block(lines.join('\n'), '', false)
  }

  finish(): string {
    this.paragraph()
    return this.#out.join('')
  }

  #block(text: string, indent: string, tight: boolean): void {
    const quote = '> '.repeat(this.#quotes)
    const written = quote === '' ? indent + text : (indent + text).replaceAll(/^/gm, quote)
    const gap = this.#length === 0 ? '' : tight ? '\n' : '\n\n'
    this.#out.push(gap, written)
    this.#length += gap.length + written.length
  }
}
