/** Markdown that is still being written: what can no longer change is handed over once, the rest is drawn again. */
import { sanitizeText } from '../../cli/terminal/text.ts'
import type { Open } from './highlight.ts'
import { joinBlocks, parseBlocks, parseLanguage, renderBlock, renderCode } from './render-markdown.ts'
import type { Line } from './styled-text.ts'

interface Fence {
  marker: string
  language: string
  open: Open | undefined
}

/** How far a text has been drawn. */
export interface StreamState {
  /** Characters of the text that were taken in. */
  readonly consumed: number
  /** What was taken in and may still change. */
  readonly pending: string
  /** The end of what came, while it may be half of an escape sequence. */
  readonly partialSequence: string
  readonly fence: Fence | undefined
  /** Whether something was handed over, so that an empty line belongs before the next block. */
  readonly hasOutput: boolean
}

export const INITIAL_STREAM: StreamState = { consumed: 0, pending: '', partialSequence: '', fence: undefined, hasOutput: false }

export interface StreamUpdate {
  state: StreamState
  /** Lines that will not change any more, and were not handed over before. */
  done: Line[]
  live: Line[]
}

/** A block may grow this long; then it is cut, so that drawing it again stays cheap. The rows of a table need its head. */
const MAX_BLOCK_LENGTH = 8_000
const MAX_TABLE_LENGTH = 64_000
const PARTIAL_SEQUENCE = /(?:\u001b(?:\[[0-?]*[ -/]*|\][^\u0007\u001b]{0,500}|[PX^_][^\u001b]{0,500})?|\r)$/
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/
const FENCE_AHEAD = /^(?:`{3,}[^`\n]*|~{3,}[^\n]*)\n/m
const PARTIAL_FENCE = /^ {0,3}(?:`{3,}|~{3,})[^\n]*$/
/** What may yet turn out to go on the block before it: the mark of another item, say. */
const PARTIAL_MARKER = /^[ \t]*(?:[-*+>|]|\d{1,9}[.)]?|#{1,6}|`{1,3}|~{1,3}|[-=]+)?[ \t]*$/

/** Draws what came since. `text` is all of it; once it is `whole`, nothing is left alive. */
export function renderStream(before: StreamState, text: string, columns: number, whole: boolean): StreamUpdate {
  const raw = before.partialSequence + text.slice(before.consumed)
  const held = whole ? '' : (PARTIAL_SEQUENCE.exec(raw)?.[0] ?? '')
  const came = sanitizeText(raw.slice(0, raw.length - held.length))
  const hand = new StreamRenderer({ ...before, consumed: text.length, partialSequence: held, pending: before.pending + came }, columns)
  hand.advance(whole)
  return { state: hand.state, done: hand.done, live: whole ? [] : hand.renderLive() }
}

class StreamRenderer {
  readonly done: Line[] = []
  state: StreamState
  readonly #columns: number

  constructor(flow: StreamState, columns: number) {
    this.state = flow
    this.#columns = columns
  }

  #emit(lines: readonly Line[]): void {
    if (lines.length === 0) return
    if (this.state.hasOutput) this.done.push([])
    this.done.push(...lines)
    this.state = { ...this.state, hasOutput: true }
  }

  advance(whole: boolean): void {
    for (;;) {
      const { pending: rest, fence } = this.state
      if (rest === '' && !fence) return
      const went = fence ? this.#emitCode(fence, whole) : (this.#openFence() ?? this.#emitBlocks(whole))
      if (!went) return
    }
  }

  /** A fence opens: from here on every line is final as soon as it is whole. */
  #openFence(): boolean | undefined {
    const leading = /^\n*/.exec(this.state.pending)?.[0].length ?? 0
    const rest = this.state.pending.slice(leading)
    const [opening, mark, info] = FENCE.exec(rest) ?? []
    if (opening === undefined || mark === undefined || (mark.startsWith('`') && info?.includes('`'))) return undefined
    this.state = {
      ...this.state,
      pending: rest.slice(opening.length),
      fence: { marker: mark, language: parseLanguage(info?.trim()), open: undefined },
    }
    if (this.state.hasOutput) this.done.push([])
    this.state = { ...this.state, hasOutput: true }
    return true
  }

  #emitCode(fence: Fence, whole: boolean): boolean {
    const texts = this.state.pending.split('\n')
    const closing = new RegExp(`^ {0,3}${fence.marker[0] === '`' ? '`' : '~'}{${fence.marker.length},}[ \\t]*$`)
    const end = texts.findIndex((each, index) => closing.test(each) && (whole || index < texts.length - 1))
    const tail = texts.at(-1) ?? ''
    const last = (whole && tail !== '') || tail.length > MAX_BLOCK_LENGTH ? texts.length : texts.length - 1
    const body = texts.slice(0, end === -1 ? last : end)
    const { lines, open } = renderCode(body, fence.language, this.#columns, fence.open)
    this.done.push(...lines)
    if (end === -1) {
      this.state = { ...this.state, pending: whole || last === texts.length ? '' : tail, fence: whole ? undefined : { ...fence, open } }
      return false
    }
    this.state = { ...this.state, pending: texts.slice(end + 1).join('\n'), fence: undefined }
    return true
  }

  /** Hands over every block but the last, which may go on. False when there was none to hand over. */
  #emitBlocks(whole: boolean): boolean {
    const { pending: rest } = this.state
    // What stands before a fence is whole, and need not be read again for each fence that follows.
    const fence = rest.search(FENCE_AHEAD)
    if (fence > 0) return this.#emitComplete(parseBlocks(rest.slice(0, fence)))
    const blocks = parseBlocks(rest)
    let kept = whole ? blocks.length : findLastOpenBlock(blocks)
    // A fence in the middle is drawn by lines, from its own beginning.
    const fenced = blocks.findIndex(({ type, raw }) => type === 'code' && FENCE.test(raw))
    if (fenced > 0 && fenced < kept) kept = fenced
    if (kept === 0) return this.#splitLongBlock(blocks[0]?.type === 'table' ? MAX_TABLE_LENGTH : MAX_BLOCK_LENGTH)
    return this.#emitComplete(blocks.slice(0, kept))
  }

  #emitComplete(blocks: ReturnType<typeof parseBlocks>): boolean {
    this.#emit(joinBlocks(blocks.map((block) => renderBlock(block, this.#columns))))
    const length = blocks.reduce((sum, { raw }) => sum + raw.length, 0)
    this.state = { ...this.state, pending: this.state.pending.slice(length) }
    return length > 0
  }

  /** A block that grew too long goes on below as if it were another, without an empty line between them. */
  #splitLongBlock(longest: number): boolean {
    const { pending: rest } = this.state
    if (rest.length <= longest) return false
    const at = findBreak(rest)
    this.#emit(joinBlocks(parseBlocks(rest.slice(0, at)).map((block) => renderBlock(block, this.#columns))))
    this.state = { ...this.state, pending: rest.slice(at), hasOutput: false }
    return false
  }

  /** What may still change, as it looks now. */
  renderLive(): Line[] {
    const { pending: rest, fence, hasOutput: begun } = this.state
    if (fence) return rest === '' ? [] : renderCode([rest], fence.language, this.#columns, fence.open).lines
    if (rest.trim() === '' || PARTIAL_FENCE.test(rest.trimStart())) return []
    const lines = joinBlocks(parseBlocks(completeTable(rest)).map((block) => renderBlock(block, this.#columns)))
    return begun && lines.length > 0 ? [[], ...lines] : lines
  }
}

/** The last block that is something, unless what follows is too little to tell whether it goes on. */
function findLastOpenBlock(blocks: ReturnType<typeof parseBlocks>): number {
  const last = blocks.findLastIndex(({ type }) => type !== 'space')
  const raw = blocks[last]?.raw ?? ''
  if (last > 0 && (PARTIAL_MARKER.test(raw) || PARTIAL_FENCE.test(raw)))
    return Math.max(
      0,
      blocks.slice(0, last).findLastIndex(({ type }) => type !== 'space'),
    )
  return Math.max(0, last)
}

/** Where a long text can be cut: at the end of a line, else of a word, not too near its end. */
function findBreak(text: string): number {
  const before = text.length - 200
  const at = Math.max(text.lastIndexOf('\n', before), 0) || text.lastIndexOf(' ', before)
  return at > 0 ? at + 1 : text.length
}

/** Half a table is shown as one: its second line is guessed until it is there. */
function completeTable(rest: string): string {
  const lines = rest.split('\n')
  const first = lines.findLastIndex((each) => each.trim() === '') + 1
  const head = lines[first] ?? ''
  if (!/^\s{0,3}\|.*\|\s*$/.test(head) || lines.length - first > 2) return rest
  const second = lines[first + 1] ?? ''
  if (!/^[\s|:-]*$/.test(second)) return rest
  const count = head.trim().replaceAll('\\|', '').split('|').length - 2
  return [...lines.slice(0, first + 1), `|${' --- |'.repeat(Math.max(1, count))}`].join('\n')
}
