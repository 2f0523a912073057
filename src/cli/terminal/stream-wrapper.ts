/** Sanitizes and wraps streamed text. */
import { labelCitations } from './markdown/label-citations.ts'
import { sanitizeText, stringWidth } from './text.ts'

/** An incomplete escape sequence, CRLF or surrogate pair at the end of a piece. */
const INCOMPLETE_SEQUENCE = /(?:\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]{0,1000}\u001b?|[ -/]*)?|\r|[\ud800-\udbff])$/

/** Sanitizes text regardless of how it is split into pieces. */
export class StreamSanitizer {
  #pending = ''

  push(piece: string): string {
    const text = this.#pending + piece
    const at = INCOMPLETE_SEQUENCE.exec(text)?.index ?? text.length
    this.#pending = text.slice(at)
    return sanitizeText(text.slice(0, at))
  }

  end(): string {
    const rest = sanitizeText(this.#pending)
    this.#pending = ''
    return rest
  }
}

/** Spaces, characters of scripts without spaces, and words. */
const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\u3000-\\u303f\\uff00-\\uffef'
const TOKENS = new RegExp(`\\s+|[${UNSPACED}]|[^\\s${UNSPACED}]+`, 'gu')
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]$`, 'u')
/** The beginning of a line that cannot be recognized yet. */
const UNDECIDED = /^\s*(?:`{1,2}|~{1,2}|#{1,6}\s*|[-*+]|\d{1,9}[.)]?|(?:\[\d{1,3}\]\s*)*(?:\[\d{0,3})?)?$/
const FENCE = /^\s*(`{3,}|~{3,})/
const ROW = /^\s*\|/
const HEADING = /^ {0,3}#{1,6}\s+/
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+/
/** Bold text and code are held back until they are complete or the line ends. */
const MARKED = /(?<!`)(`{1,2})(?!`)([^`\n]+)\1(?!`)|(?<!\*)\*\*(?=[^\s*])([^*\n]*[^\s*])\*\*(?!\*)/g
/** A mark without a counterpart must not hold back the rest of a long line. */
const MAX_MARKED_LENGTH = 2_000
/** Each piece of a longer word would be read again with all those before it. */
const MAX_HELD_WORD_LENGTH = 2_000
const BULLET = '•'
const CODE_MARGIN = '  '

/** How parts of the text are shown. Tables are passed as Markdown. */
export interface TextStyles {
  formatWord: (word: string) => string
  formatBold: (word: string) => string
  formatCode: (word: string) => string
  formatTable: (markdown: string, columns: number) => string[]
}

const PLAIN: TextStyles = {
  formatWord: (word) => word,
  formatBold: (word) => word,
  formatCode: (word) => word,
  formatTable: (markdown) => markdown.split('\n'),
}

/** A part of a line with its format. */
interface Part {
  text: string
  format: (word: string) => string
}

/**
 * Renders Markdown and wraps lines between words. Holds back only what may still change: the incomplete last word, bold text and
 * code until they end, and tables. Code is indented and not wrapped.
 */
export class StreamWrapper {
  readonly #columns: () => number
  readonly #styles: TextStyles
  #sanitizer = new StreamSanitizer()
  /** Text that is held back. */
  #pending = ''
  #line: 'start' | 'text' | 'heading' = 'start'
  #fence: string | undefined
  #table: string[] = []
  #spaces = ''
  /** Columns used on the current line. */
  #used = 0
  /** Indentation of the lines after the first one of a list item. */
  #indent = 0
  /** The last word was printed before it was complete. */
  #isWordOpen = false
  /** Other output was printed: the next text starts on a new line without leading spaces. */
  #isInterrupted = false

  /** `columns` is a function because the window can be resized. */
  constructor(columns: () => number, styles: TextStyles = PLAIN) {
    this.#columns = columns
    this.#styles = styles
  }

  push(piece: string): string {
    this.#pending += this.#sanitizer.push(piece)
    return this.#advance(false)
  }

  /** Returns the text that was held back. */
  end(): string {
    this.#pending += this.#sanitizer.end()
    return this.#advance(true) + this.#endTable()
  }

  /** Ends the line before other output. */
  interrupt(): string {
    const rest = this.end()
    const ended = this.#used > 0 ? this.#endLine() : ''
    this.#isInterrupted = true
    return rest + ended
  }

  #advance(isLast: boolean): string {
    let out = ''
    for (;;) {
      const newline = this.#pending.indexOf('\n')
      const isComplete = newline >= 0
      const text = isComplete ? this.#pending.slice(0, newline) : this.#pending
      if (!isComplete && text === '') return out
      if (this.#line === 'start') {
        const block = this.#takeBlockLine(text, isComplete || isLast)
        if (block === undefined) return out
        if (block !== false) {
          out += block
          this.#pending = isComplete ? this.#pending.slice(newline + 1) : ''
          continue
        }
        out += this.#endTable() + this.#startLine(text)
        continue
      }
      out += this.#takeText(text, isComplete || isLast)
      if (!isComplete) return out
      out += this.#endLine()
      this.#pending = this.#pending.slice(1)
    }
  }

  /** Takes a line of code or of a table. Returns false for other lines, and undefined if the line must be complete to decide. */
  #takeBlockLine(text: string, isComplete: boolean): string | false | undefined {
    if (this.#fence === undefined && !isComplete && UNDECIDED.test(text)) return undefined
    const marker = FENCE.exec(text)?.[1]
    if (this.#fence === undefined && marker === undefined && !ROW.test(text)) return false
    if (!isComplete) return undefined
    this.#isInterrupted = false
    if (this.#fence !== undefined) {
      const isClosed = marker?.startsWith(this.#fence) && text.trim() === marker
      if (isClosed) this.#fence = undefined
      return isClosed ? '' : `${text === '' ? '' : CODE_MARGIN}${text}\n`
    }
    if (marker === undefined) {
      this.#table.push(text)
      return ''
    }
    this.#fence = marker
    return this.#endTable()
  }

  /** Removes the marks of headings and list items. */
  #startLine(text: string): string {
    this.#line = 'text'
    this.#indent = 0
    const heading = HEADING.exec(text)?.[0]
    if (heading !== undefined) {
      this.#line = 'heading'
      this.#pending = this.#pending.slice(heading.length)
      return ''
    }
    const [item, spaces = '', mark = ''] = ITEM.exec(text) ?? []
    if (item === undefined) {
      const label = labelCitations(text)
      this.#used = label.length
      return label
    }
    this.#isInterrupted = false
    this.#pending = this.#pending.slice(item.length)
    const shown = `${spaces}${/\d/.test(mark) ? mark : BULLET}`
    this.#used = stringWidth(shown)
    this.#indent = this.#used + 1
    this.#spaces = ' '
    return shown
  }

  #takeText(text: string, isComplete: boolean): string {
    const { formatWord, formatBold, formatCode } = this.#styles
    const format = this.#line === 'heading' ? formatBold : formatWord
    const parts: Part[] = []
    let from = 0
    for (const { 0: all, 2: code, 3: bold, index } of text.matchAll(MARKED)) {
      // The rest of a word may follow.
      if (!isComplete && !/\s/.test(text.slice(index + all.length))) break
      parts.push({ text: text.slice(from, index), format })
      parts.push(bold === undefined ? { text: code ?? '', format: formatCode } : { text: bold.replaceAll('`', ''), format: formatBold })
      from = index + all.length
    }
    const rest = text.slice(from)
    const length = isComplete ? rest.length : findHeldText(rest)
    parts.push({ text: rest.slice(0, length), format })
    this.#pending = this.#pending.slice(from + length)
    const out = this.#addParts(parts)
    if (length > 0) this.#isWordOpen = !isComplete && length === rest.length
    return out
  }

  /** A word may consist of several parts: a comma after bold text belongs to its last word. */
  #addParts(parts: readonly Part[]): string {
    let out = ''
    let word: Part[] = []
    const endWord = () => {
      if (word.length > 0) out += this.#addWord(word)
      word = []
    }
    for (const { text, format } of parts)
      for (const token of text.match(TOKENS) ?? []) {
        const isSpace = token.trim() === ''
        if (isSpace || IS_UNSPACED.test(token)) endWord()
        if (isSpace) this.#addSpace(token)
        else word.push({ text: token, format })
        if (IS_UNSPACED.test(token)) endWord()
      }
    endWord()
    return out
  }

  #endTable(): string {
    if (this.#table.length === 0) return ''
    const lines = this.#styles.formatTable(this.#table.join('\n'), this.#columns())
    this.#table = []
    return `${lines.join('\n')}\n`
  }

  #endLine(): string {
    this.#isInterrupted = false
    this.#spaces = ''
    this.#used = 0
    this.#line = 'start'
    return '\n'
  }

  #addSpace(token: string): void {
    if (!this.#isInterrupted) this.#spaces += token
  }

  #addWord(word: readonly Part[]): string {
    const gap = this.#spaces
    this.#spaces = ''
    this.#isInterrupted = false
    const width = word.reduce((sum, { text }) => sum + stringWidth(text), 0)
    const isContinued = this.#isWordOpen && gap === ''
    this.#isWordOpen = false
    const breaks = !isContinued && this.#used > this.#indent && this.#used + stringWidth(gap) + width > this.#columns()
    const before = breaks ? ' '.repeat(this.#indent) : gap
    this.#used = (breaks ? 0 : this.#used) + stringWidth(before) + width
    return `${breaks ? '\n' : ''}${before}${word.map(({ text, format }) => format(text)).join('')}`
  }
}

/** Returns the number of characters before the last word, or before the word with bold text or code that is not complete. */
function findHeldText(text: string): number {
  const mark = text.search(/`|\*\*(?=[^\s*]|$)|\*$/)
  const before = mark < 0 || text.length - mark > MAX_MARKED_LENGTH ? text : text.slice(0, mark)
  const lastWord = before.match(TOKENS)?.at(-1) ?? ''
  const held = lastWord.trimEnd().length
  return before.length - (held > MAX_HELD_WORD_LENGTH ? 0 : held)
}
