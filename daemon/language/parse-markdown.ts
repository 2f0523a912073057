/** Parses the blocks of Markdown line by line, with their positions. Time is linear, whatever the text. */

export interface MarkdownBlock {
  start: number
  end: number
  /** The header of a table includes its delimiter row. HTML is an element whose text is kept as it is, such as `pre`. */
  kind: 'frontMatter' | 'heading' | 'text' | 'item' | 'row' | 'rule' | 'code' | 'html'
  /** For headings: 1 to 6. */
  level: number
  /** For headings: their text, with inline Markdown. */
  title: string
  /** For code: the info string of its fence. */
  language: string
  /** For code: whether it has both of its fences. */
  isComplete: boolean
}

interface MarkdownOptions {
  /** Positions where a block ends, such as starts of pages. */
  breaks?: readonly number[]
  /** Whether the opening fence of the code at the start is missing. */
  startsInCode?: boolean
  /** Recognizes more headings. */
  isHeading?: (start: number, end: number) => boolean
}

const ITEM = /^[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+\S/
/** An option in the help of a command: -j/--json. */
const OPTION = /^\s*--?\w[\w-]*(?:[/,|] ?--?\w[\w-]*)*(?:[ =]|$)/
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/
const HTML_HEADING = /^ {0,3}<h([1-6])(?: [^<>\n]{0,200})?>([^\n]{0,300}?)<\/h[1-6]>[ \t]*$/i
const MAX_HEADING_LENGTH = 300
const UNDERLINE = /^(?:={2,}|-{2,})[ \t]*$/
/** What follows a fence of backticks contains none; otherwise it is code in a line of text. */
const FENCE = /^[ \t]*(`{3,}(?![^`]*`)|~{3,})[ \t]*(\S*)/
const RAW_ELEMENT = /^ {0,3}<(pre|script|style|textarea)(?=[\s>]|$)/i
/** Delimiter rows of tables and thematic breaks. */
const RULE = /^[\s|:*_=-]{3,1000}$/
const MAX_FRONT_MATTER_LENGTH = 10_000

export const isItem = (line: string): boolean => ITEM.test(line)

/** Returns the fence at the start of a line and the language after it. */
export function parseFence(line: string): { fence: string; language: string } | undefined {
  const [, fence, language = ''] = FENCE.exec(line) ?? []
  return fence === undefined ? undefined : { fence, language: language.toLowerCase() }
}

/** Whether a line closes code that a fence opened. */
export function closesFence(line: string, fence: string): boolean {
  const closing = parseFence(line)?.fence
  return closing?.startsWith(fence) === true && line.trim() === closing
}

/** Lines that belong to no block are empty. */
export function parseMarkdown(text: string, options: MarkdownOptions = {}): MarkdownBlock[] {
  const parser = new MarkdownParser(text, options)
  for (let start = parser.parseStart(); start <= text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    parser.addLine(start, end)
    start = end + 1
  }
  return parser.blocks
}

class MarkdownParser {
  readonly blocks: MarkdownBlock[] = []
  readonly #text: string
  readonly #options: MarkdownOptions
  /** The block that the next line may continue. */
  #open: MarkdownBlock | undefined
  #fence: string | undefined
  /** End tag of the HTML element around the line. */
  #endTag: string | undefined
  #nextBreak = 0

  constructor(text: string, options: MarkdownOptions) {
    this.#text = text
    this.#options = options
  }

  /** Parses front matter, or opens code. Returns the start of the first line after it. */
  parseStart(): number {
    if (this.#options.startsInCode) {
      this.#add('code', 0, 0)
      this.#fence = '' // any fence closes it
    }
    const end = this.#text.startsWith('---\n') ? this.#text.slice(0, MAX_FRONT_MATTER_LENGTH).indexOf('\n---\n', 3) : -1
    if (end < 0) return 0
    this.#add('frontMatter', 0, end + 4)
    this.#open = undefined
    return end + 5
  }

  addLine(start: number, end: number): void {
    const line = this.#text.slice(start, end)
    const isInside = this.#fence !== undefined || this.#endTag !== undefined
    if (this.#passesBreak(start) && !isInside) this.#open = undefined
    if (isInside) this.#continueRaw(line, end)
    else if (line.trim() === '') this.#open = undefined
    else if (!this.#openRaw(line, start, end) && !this.#addHeading(line, start, end)) this.#addText(line, start, end)
  }

  /** Starts code or an HTML element. Returns false for other lines. */
  #openRaw(line: string, start: number, end: number): boolean {
    const opening = parseFence(line)
    const element = RAW_ELEMENT.exec(line)?.[1]
    if (opening) {
      this.#add('code', start, end, { language: opening.language, isComplete: false })
      this.#fence = opening.fence
    } else if (element !== undefined) {
      this.#add('html', start, end)
      this.#endTag = `</${element.toLowerCase()}`
      this.#continueRaw(line, end)
    }
    return opening !== undefined || element !== undefined
  }

  #continueRaw(line: string, end: number): void {
    const isLast = this.#fence === undefined ? line.toLowerCase().includes(this.#endTag as string) : closesFence(line, this.#fence)
    Object.assign(this.#open as MarkdownBlock, { end })
    if (!isLast) return
    const isCut = this.#options.startsInCode && this.blocks.length === 1
    if (this.#fence !== undefined && !isCut) Object.assign(this.#open as MarkdownBlock, { isComplete: true })
    this.#fence = this.#endTag = this.#open = undefined
  }

  /** Returns false for other lines. */
  #addHeading(line: string, start: number, end: number): boolean {
    if (line.length > MAX_HEADING_LENGTH && !line.includes('</h')) return false
    const [, level, title] = HTML_HEADING.exec(line) ?? []
    const [marks, signs] = HEADING.exec(line) ?? []
    if (level !== undefined) this.#add('heading', start, end, { level: Number(level), title: title ?? '' })
    else if (marks !== undefined && line.length <= MAX_HEADING_LENGTH && !this.#isComment(signs, start, end))
      this.#add('heading', start, end, { level: signs?.length ?? 1, title: line.slice(marks.length).replace(/[ \t]#{1,9}[ \t]*$/, '') })
    else if (UNDERLINE.test(line) && this.#isTitle(this.#open)) {
      const { start: from, end: to } = this.#open
      Object.assign(this.#open, { kind: 'heading', end, level: line.startsWith('=') ? 1 : 2, title: this.#text.slice(from, to) })
    } else if (this.#options.isHeading?.(start, end)) this.#add('heading', start, end, { level: 2, title: line })
    else return false
    this.#open = undefined
    return true
  }

  /** Whether the line is a comment of a script without a fence: a document has no titles right below each other. */
  #isComment(signs: string | undefined, start: number, end: number): boolean {
    const above = this.#text.lastIndexOf('\n', start - 2) + 1
    return signs === '#' && (this.#text.startsWith('# ', end + 1) || (start > 0 && this.#text.startsWith('# ', above)))
  }

  /** Whether an underline below the block makes it a heading. */
  #isTitle(block: MarkdownBlock | undefined): block is MarkdownBlock {
    if (block?.kind !== 'text' || block.end - block.start > MAX_HEADING_LENGTH) return false
    return !this.#text.slice(block.start, block.end).includes('\n')
  }

  #addText(line: string, start: number, end: number): void {
    const open = this.#open
    if (RULE.test(line)) {
      if (open?.kind === 'row') open.end = end
      else this.#add('rule', start, end)
      if (open?.kind !== 'row') this.#open = undefined
    } else if (this.#isRow(line, end)) this.#add('row', start, end)
    else if (ITEM.test(line) || (OPTION.test(line) && !this.#isInSentence(line))) this.#add('item', start, end)
    else if (open && open.kind !== 'row') open.end = end
    else this.#add('text', start, end)
  }

  /** Whether a sentence that names an option was wrapped before it. */
  #isInSentence(line: string): boolean {
    const open = this.#open
    const hasColumns = /\S(?: {2}|\t)/.test(line)
    if (open?.kind !== 'text' || /^\s/.test(line) || hasColumns) return false
    return !/[.:!?：][ \t]*$/.test(this.#text.slice(Math.max(open.start, open.end - 10), open.end))
  }

  /** The pipe at the start of a row is optional in a table with a delimiter row. */
  #isRow(line: string, end: number): boolean {
    if (!line.includes('|')) return false
    if (/^\s*\|/.test(line) || this.#open?.kind === 'row') return true
    const below = this.#text.slice(end + 1, end + 200).split('\n', 1)[0] as string
    return RULE.test(below) && below.includes('|') && below.includes('--')
  }

  #add(kind: MarkdownBlock['kind'], start: number, end: number, details: Partial<MarkdownBlock> = {}): void {
    this.#open = { kind, start, end, level: 0, title: '', language: '', isComplete: kind !== 'code', ...details }
    this.blocks.push(this.#open)
  }

  #passesBreak(start: number): boolean {
    const { breaks = [] } = this.#options
    const first = this.#nextBreak
    while ((breaks[this.#nextBreak] ?? Number.POSITIVE_INFINITY) <= start) this.#nextBreak++
    return this.#nextBreak > first
  }
}

/** Removes Markdown syntax and HTML tags, but not inside words and code. With `keepsCode`, code spans and __names__ remain code spans. */
export function stripMarkdown(text: string, { keepsCode = false } = {}): string {
  const kept: string[] = []
  const keep = (inner: string) => `\uE000${kept.push(inner) - 1}\uE001`
  return text
    .replaceAll(/[\uE000\uE001]/g, '')
    .replaceAll(/^[ \t]*(?:>[ \t]?|#+(?:[ \t]+|$))+/gm, '')
    .replaceAll(/(?<!`)(`{1,3})(?!`)([^`]{1,1000})\1(?!`)/g, (span, _ticks, code: string) => keep(keepsCode ? span : code.trim()))
    .replaceAll(/(?<!\w)__[a-z][a-z0-9_]{0,100}__(?!\w)/g, (name) => (keepsCode ? keep(`\`${name}\``) : name))
    .replaceAll(/\\([\\`*_{}[\]()#+.!|-])/g, (_, sign: string) => keep(sign))
    .replaceAll(/(!?)\[([^[\]]{0,1000})\]\([^()\s]{0,1000}(?:\s"[^"]{0,200}")?\)/g, (_, image: string, link: string) => (image ? '' : link))
    .replaceAll(/\[([^[\]]{1,1000})\]\[[^[\]]{0,200}\]/g, '$1')
    .replaceAll(/(\*{1,3})(?=[^\s*])([^*]{1,1000})(?<=[^\s*])\1/g, '$2')
    .replaceAll(/(?<![\p{L}\p{N}_])(_{1,3})(?=[^\s_])((?:[^_]|(?<=\w)_(?=\w)){1,1000})(?<=[^\s_])\1(?![\p{L}\p{N}_])/gu, '$2')
    .replaceAll(/<\/?[a-z][a-z0-9]{0,10}(?:\s[^<>]{0,300})?\/?>|<!--[^<>]{0,300}-->/gi, '')
    .replaceAll(/\uE000(\d+)\uE001/g, (_, at: string) => kept[Number(at)] as string)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
