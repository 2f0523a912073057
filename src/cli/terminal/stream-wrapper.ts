/** Text that comes in pieces, on its way to a terminal: made safe, and broken between words as it flows. */
import { sanitizeText, width } from './text.ts'

/** What the next piece may still make whole: an escape sequence, a line end of two characters, half of a pair. */
const INCOMPLETE_SEQUENCE = /(?:\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]{0,1000}\u001b?|[ -/]*)?|\r|[\ud800-\udbff])$/

/** Makes text safe to show, whichever way it is cut into pieces. */
export class StreamSanitizer {
  #pending = ''

  push(piece: string): string {
    const text = this.#pending + piece
    const at = INCOMPLETE_SEQUENCE.exec(text)?.index ?? text.length
    this.#pending = text.slice(at)
    return sanitizeText(text.slice(0, at))
  }

  /** What was held back, now that nothing follows. */
  end(): string {
    const rest = sanitizeText(this.#pending)
    this.#pending = ''
    return rest
  }
}

/** Line ends, spaces, characters of scripts that are written without them, and words. */
const TOKENS =
  /\n|[^\S\n]+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u3000-\u303f\uff00-\uffef]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u3000-\u303f\uff00-\uffef]+/gu

/**
 * Breaks lines between words, while the text still comes: only the word that is being written is held back.
 * Code between fences, and rows of tables, keep their lines.
 */
export class StreamWrapper {
  readonly #columns: () => number
  readonly #highlight: (word: string) => string
  #sanitizer = new StreamSanitizer()
  #word = ''
  #spaces = ''
  /** Columns that the line takes so far. */
  #used = 0
  /** How the line begins, as far as that tells what it is. */
  #lineStart = ''
  #isInFence = false
  /** Whether something else was said since: what follows begins a line, and not with a space. */
  #isInterrupted = false

  /** `columns` is asked anew each time, since people make their windows smaller; `mark` paints what is to stand out in a word. */
  constructor(columns: () => number, mark: (word: string) => string = (word) => word) {
    this.#columns = columns
    this.#highlight = mark
  }

  push(piece: string): string {
    return this.#wrap(this.#sanitizer.push(piece), false)
  }

  /** What was held back, now that nothing follows. */
  end(): string {
    return this.#wrap(this.#sanitizer.end(), true)
  }

  /** Ends the line, so that something else can be said. */
  interrupt(): string {
    const rest = this.end()
    const ended = this.#used > 0 ? this.#endLine() : ''
    this.#isInterrupted = true
    return rest + ended
  }

  #wrap(text: string, last: boolean): string {
    const tokens = (this.#word + text).match(TOKENS) ?? []
    this.#word = ''
    // The word at the end may go on in the next piece.
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
    const breaks = !keeps && this.#used > 0 && this.#used + width(gap) + width(word) > this.#columns()
    this.#used = (breaks ? 0 : this.#used + width(gap)) + width(word)
    return `${breaks ? '\n' : gap}${keeps ? word : this.#highlight(word)}`
  }
}
