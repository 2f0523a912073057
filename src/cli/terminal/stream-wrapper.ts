/** Sanitizes and wraps streamed text. */
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

/** Newlines, spaces, characters of scripts without spaces, and words. */
const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\u3000-\\u303f\\uff00-\\uffef'
const TOKENS = new RegExp(`\\n|[^\\S\\n]+|[${UNSPACED}]|[^\\s${UNSPACED}]+`, 'gu')

/**
 * Wraps lines between words and holds back only the incomplete last word.
 * Fenced code and table rows are not wrapped.
 */
export class StreamWrapper {
  readonly #columns: () => number
  readonly #highlight: (word: string) => string
  #sanitizer = new StreamSanitizer()
  #word = ''
  #spaces = ''
  /** Columns used on the current line. */
  #used = 0
  /** Indentation and first word, which identify fences and table rows. */
  #lineStart = ''
  #isInFence = false
  /** Other output was printed: the next text starts on a new line without leading spaces. */
  #isInterrupted = false

  /** `columns` is a function because the window can be resized. */
  constructor(columns: () => number, highlight: (word: string) => string = (word) => word) {
    this.#columns = columns
    this.#highlight = highlight
  }

  push(piece: string): string {
    return this.#wrap(this.#sanitizer.push(piece), false)
  }

  /** Returns the text that was held back. */
  end(): string {
    return this.#wrap(this.#sanitizer.end(), true)
  }

  /** Ends the line before other output. */
  interrupt(): string {
    const rest = this.end()
    const ended = this.#used > 0 ? this.#endLine() : ''
    this.#isInterrupted = true
    return rest + ended
  }

  #wrap(text: string, last: boolean): string {
    const tokens = (this.#word + text).match(TOKENS) ?? []
    this.#word = ''
    // The last word may continue in the next piece.
    if (!last && /\S$/.test(tokens.at(-1) ?? '')) this.#word = tokens.pop() ?? ''
    let out = ''
    for (const token of tokens) out += token === '\n' ? this.#endLine() : token.trim() === '' ? this.#addSpace(token) : this.#addWord(token)
    return out
  }

  #endLine(): string {
    this.#isInterrupted = false
    if (/^\s*(```|~~~)/.test(this.#lineStart)) this.#isInFence = !this.#isInFence
    const spaces = this.#isInFence ? this.#spaces : ''
    this.#spaces = ''
    this.#used = 0
    this.#lineStart = ''
    return `${spaces}\n`
  }

  #addSpace(token: string): string {
    if (this.#isInterrupted) return ''
    this.#spaces += token
    if (this.#lineStart.trim() === '') this.#lineStart += token
    return ''
  }

  #addWord(word: string): string {
    if (this.#lineStart.trim() === '') this.#lineStart += word
    const keeps = this.#isInFence || /^\s*(\||```|~~~)/.test(this.#lineStart)
    const gap = this.#spaces
    this.#spaces = ''
    this.#isInterrupted = false
    const breaks = !keeps && this.#used > 0 && this.#used + stringWidth(gap) + stringWidth(word) > this.#columns()
    this.#used = (breaks ? 0 : this.#used + stringWidth(gap)) + stringWidth(word)
    return `${breaks ? '\n' : gap}${keeps ? word : this.#highlight(word)}`
  }
}
