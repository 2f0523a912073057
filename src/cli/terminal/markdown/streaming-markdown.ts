/** Renders Markdown while it is being streamed: what no longer changes once, the unfinished rest on every update. */
import type { Token, Tokens } from 'marked'
import { findIncompleteSequence, sanitizeText } from '../text.ts'
import type { OpenToken } from './highlight.ts'
import { formatOpenItem, removeItemStart } from './open-item.ts'
import { findParagraphStart } from './paragraph-start.ts'
import { endsWithEmptyLine, getFirstNumber, joinBlocks, lexMarkdown, parseLanguage, renderBlock, renderCode } from './render-markdown.ts'
import type { Line } from './styled-text.ts'

interface Fence {
  marker: string
  language: string
  open: OpenToken | undefined
}

/** Position in a text that is partly rendered. */
export interface StreamState {
  /** Number of characters read. */
  readonly consumed: number
  /** Text that was read and may still change. */
  readonly pending: string
  /** End of the text that may be the start of an escape sequence. */
  readonly partialSequence: string
  readonly fence: Fence | undefined
  /** Whether an empty line precedes the pending text: a block was written, and the text does not continue it. */
  readonly needsEmptyLine: boolean
  /** Number of the next item if the start of a list was written. */
  readonly itemNumber: number | undefined
  /** If the start of a list item was written: text before the pending text with which it is parsed as the rest of the item. */
  readonly openItem: string
}

export const INITIAL_STREAM: StreamState = {
  consumed: 0,
  pending: '',
  partialSequence: '',
  fence: undefined,
  needsEmptyLine: false,
  itemNumber: undefined,
  openItem: '',
}

/** What follows text that was written. */
type NextState = Pick<StreamState, 'needsEmptyLine'> & Partial<Pick<StreamState, 'itemNumber' | 'openItem'>>

/** Longer blocks are split, so that rendering them again stays cheap. Rows of a table need its head, so tables may be longer. */
const MAX_BLOCK_LENGTH = 8_000
const MAX_TABLE_LENGTH = 64_000
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/
const FENCE_AHEAD = /^(?:`{3,}[^`\n]*|~{3,}[^\n]*)\n/m
const PARTIAL_FENCE = /^ {0,3}(?:`{3,}|~{3,})[^\n]*$/
/** Text that may continue the previous block, such as the marker of another list item, or `* **`, the start of an item in bold. */
const PARTIAL_MARKER = /^(?:[-*_=+>| \t]*|[ \t]*(?:\d{1,9}[.)]?|#{1,6}|`{1,3}|~{1,3})[ \t]*)$/

/** Renders the part of `text` after the position in `state`. New lines in `done` will not change. With `isComplete`, none are live. */
export function renderStream(state: StreamState, text: string, columns: number, isComplete: boolean) {
  const raw = state.partialSequence + text.slice(state.consumed)
  const partialSequence = isComplete ? '' : findIncompleteSequence(raw)
  const pending = state.pending + sanitizeText(raw.slice(0, raw.length - partialSequence.length))
  const renderer = new StreamRenderer({ ...state, consumed: text.length, partialSequence, pending }, columns)
  renderer.advance(isComplete)
  return { state: renderer.state, done: renderer.done, live: isComplete ? [] : renderer.renderLive() }
}

class StreamRenderer {
  readonly done: Line[] = []
  state: StreamState
  readonly #columns: number
  /** What was parsed last: mostly, the live text is the text of which no block was complete. */
  #parsed: { text: string; blocks: readonly Token[] } | undefined

  constructor(state: StreamState, columns: number) {
    this.state = state
    this.#columns = columns
  }

  advance(isComplete: boolean): void {
    for (;;) {
      const { pending, fence } = this.state
      if (pending === '' && !fence) return
      const canContinue = fence ? this.#emitCode(fence, isComplete) : this.#openFence() || this.#emitBlocks(isComplete)
      if (!canContinue) return
    }
  }

  /** Inside a fence every complete line is final. */
  #openFence(): boolean {
    const pending = this.state.pending.replace(/^\n*/, '')
    const [opening, marker, info] = FENCE.exec(pending) ?? []
    if (opening === undefined || marker === undefined || (marker.startsWith('`') && info?.includes('`'))) return false
    if (this.state.needsEmptyLine) this.done.push([])
    const fence = { marker, language: parseLanguage(info?.trim()), open: undefined }
    this.state = { ...this.state, pending: pending.slice(opening.length), fence, needsEmptyLine: true, openItem: '' }
    return true
  }

  #emitCode(fence: Fence, isComplete: boolean): boolean {
    const texts = this.state.pending.split('\n')
    const closing = new RegExp(`^ {0,3}${fence.marker[0] === '`' ? '`' : '~'}{${fence.marker.length},}[ \\t]*$`)
    const end = texts.findIndex((text, index) => closing.test(text) && (isComplete || index < texts.length - 1))
    const tail = texts.at(-1) ?? ''
    const includesTail = (isComplete && tail !== '') || tail.length > MAX_BLOCK_LENGTH
    const body = texts.slice(0, end !== -1 ? end : includesTail ? texts.length : texts.length - 1)
    const { lines, open } = renderCode(body, fence.language, fence.open)
    this.done.push(...lines)
    if (end === -1) {
      const pending = isComplete || includesTail ? '' : tail
      this.state = { ...this.state, pending, fence: isComplete ? undefined : { ...fence, open } }
      return false
    }
    this.state = { ...this.state, pending: texts.slice(end + 1).join('\n'), fence: undefined }
    return true
  }

  /** Writes all blocks except the last one, which may continue. Returns false if there is none to write. */
  #emitBlocks(isComplete: boolean): boolean {
    const { pending } = this.state
    // Text before a fence is complete and need not be parsed again for every following fence.
    const fence = pending.search(FENCE_AHEAD)
    if (fence > 0) return this.#emit(this.#parse(pending.slice(0, fence)))
    const blocks = this.#parse(pending)
    let count = isComplete ? blocks.length : findLastOpenBlock(blocks)
    // A fence is rendered line by line by #emitCode.
    const fenced = blocks.findIndex(({ type, raw }) => type === 'code' && FENCE.test(raw))
    if (fenced > 0 && fenced < count) count = fenced
    if (count > 0) return this.#emit(blocks.slice(0, count))
    this.#emitStart(blocks)
    return false
  }

  /** Numbers the items of a list whose start was written as if it was one list. */
  #parse(text: string): readonly Token[] {
    if (text === this.#parsed?.text) return this.#parsed.blocks
    const { itemNumber, openItem } = this.state
    const [first, ...others] = lexMarkdown(openItem + text)
    const blocks = !first ? [] : [first.type === 'list' && itemNumber !== undefined ? { ...first, start: itemNumber } : first, ...others]
    this.#parsed = { text, blocks }
    return blocks
  }

  #emit(blocks: readonly Token[]): boolean {
    const lines = this.#render(blocks)
    const length = this.#measure(blocks)
    this.#write(lines, length, { needsEmptyLine: this.state.needsEmptyLine || lines.length > 0 })
    return length > 0
  }

  /** The number of pending characters of the first blocks or items. */
  #measure(tokens: readonly { raw: string }[]): number {
    return tokens.reduce((sum, { raw }) => sum + raw.length, -this.state.openItem.length)
  }

  /** Renders the start of the pending text on its own, so that it does not depend on text that may change. */
  #writeStart(length: number, next: NextState): void {
    this.#write(this.#render(this.#parse(this.state.pending.slice(0, length))), length, next)
  }

  #write(lines: readonly Line[], length: number, next: NextState): void {
    if (this.state.needsEmptyLine && lines.length > 0) this.done.push([])
    this.done.push(...lines)
    this.#parsed = undefined // the next item has another number, even if its text is the same
    this.state = { ...this.state, itemNumber: undefined, openItem: '', ...next, pending: this.state.pending.slice(length) }
  }

  #render(blocks: readonly Token[]): Line[] {
    const lines = joinBlocks(blocks.map((block) => renderBlock(block, this.#columns)))
    return this.state.openItem === '' ? lines : removeItemStart(lines)
  }

  /** Writes the start of a block that may continue, so that few lines are drawn again. The rest follows without an empty line. */
  #emitStart([block, ...others]: readonly Token[]): void {
    if (block?.type === 'list') this.#emitItems(block as Tokens.List)
    else if (block?.type === 'paragraph' && others.every(({ type }) => type === 'space')) this.#emitLines(block as Tokens.Paragraph)
    const { pending } = this.state
    if (pending.length <= (block?.type === 'table' ? MAX_TABLE_LENGTH : MAX_BLOCK_LENGTH)) return
    const split = findBreak(pending)
    const start = this.#parse(pending.slice(0, split)).findLast(({ type }) => type !== 'space')
    const list = start?.type === 'list' ? (start as Tokens.List) : undefined
    const open = list && {
      itemNumber: getFirstNumber(list) + list.items.length - 1,
      openItem: formatOpenItem(list, pending.slice(0, split)),
    }
    this.#writeStart(split, { needsEmptyLine: false, ...open })
  }

  /** Writes the items before the last one, which may continue. An item without a letter may turn out to be something else. */
  #emitItems(list: Tokens.List): void {
    const isItem = /[\p{L}\p{N}]/u.test(list.items.at(-1)?.text ?? '')
    const items = list.items.slice(0, isItem ? -1 : -2)
    if (items.length === 0) return
    const length = this.#measure(items)
    const itemNumber = getFirstNumber(list) + items.length
    this.#writeStart(length, { needsEmptyLine: endsWithEmptyLine(items.at(-1)), itemNumber })
  }

  #emitLines(paragraph: Tokens.Paragraph): void {
    const start = findParagraphStart(paragraph, this.#render([paragraph]), this.#columns)
    if (start) this.#write(start.lines, start.length, { needsEmptyLine: false })
  }

  renderLive(): Line[] {
    const { pending, fence, needsEmptyLine } = this.state
    if (fence) return pending === '' ? [] : renderCode([pending], fence.language, fence.open).lines
    if (pending.trim() === '' || PARTIAL_FENCE.test(pending.trimStart())) return []
    const lines = this.#render(this.#parse(completeTable(pending)))
    return needsEmptyLine && lines.length > 0 ? [[], ...lines] : lines
  }
}

/** Returns the index of the last block with content, or of the one before it if the last may still continue it. */
function findLastOpenBlock(blocks: readonly Token[]): number {
  const last = blocks.findLastIndex(({ type }) => type !== 'space')
  const raw = blocks[last]?.raw ?? ''
  const isPartial = last > 0 && (PARTIAL_MARKER.test(raw) || PARTIAL_FENCE.test(raw))
  return Math.max(0, isPartial ? blocks.slice(0, last).findLastIndex(({ type }) => type !== 'space') : last)
}

/** Returns where to split a long text: after a line or a word, at least 200 characters before its end. */
function findBreak(text: string): number {
  const limit = text.length - 200
  const index = Math.max(text.lastIndexOf('\n', limit), 0) || text.lastIndexOf(' ', limit)
  return index > 0 ? index + 1 : text.length
}

/** Adds the delimiter row to an unfinished table, so that it is rendered as a table. */
function completeTable(text: string): string {
  const lines = text.split('\n')
  const first = lines.findLastIndex((line) => line.trim() === '') + 1
  const head = lines[first] ?? ''
  if (!/^\s{0,3}\|.*\|\s*$/.test(head) || lines.length - first > 2) return text
  const second = lines[first + 1] ?? ''
  if (!/^[\s|:-]*$/.test(second)) return text
  const count = head.trim().replaceAll('\\|', '').split('|').length - 2
  return [...lines.slice(0, first + 1), `|${' --- |'.repeat(Math.max(1, count))}`].join('\n')
}
