/** Limits the texts of a report, so that a browser can open it. */
import { formatCount } from '../terminal/format-quantity.ts'
import { Html, html } from './html.ts'

/** Longest text that is shown as a whole. */
export const MAX_TEXT_LENGTH = 20_000
/** Characters of all texts together; texts after that are shortened to a few lines. */
const MAX_TOTAL_LENGTH = 10_000_000
const SHORT_LENGTH = 200

export interface ShortText {
  text: string
  /** Number of characters that are missing at the end. */
  omitted: number
}

export class TextLimit {
  readonly #longest: number
  #remaining: number

  constructor(longest = MAX_TEXT_LENGTH, total = MAX_TOTAL_LENGTH) {
    this.#longest = longest
    this.#remaining = total
  }

  shorten(text: string): ShortText {
    const length = Math.max(SHORT_LENGTH, Math.min(this.#longest, this.#remaining))
    const shown = text.length <= length ? text : text.slice(0, length).toWellFormed()
    this.#remaining -= shown.length
    return { text: shown, omitted: text.length - shown.length }
  }
}

/** Formats the note below a shortened text. */
export const formatOmission = (omitted: number): Html =>
  omitted === 0 ? new Html('') : html`<p class="quiet">… ${formatCount(omitted, 'more character')} not shown</p>`
