/** Markdown that is still being written: what can no longer change is handed over once, the rest is drawn again. */
import { sanitizeText } from '../../cli/terminal/text.ts'
import type { Open } from './highlight.ts'
import { blockLines, blocksOf, codeLines, languageName, spaced } from './render-markdown.ts'
import type { Line } from './styled-text.ts'

interface Fence {
  mark: string
  language: string
  open: Open | undefined
}

/** How far a text has been drawn. */
export interface Flow {
  /** Characters of the text that were taken in. */
  readonly taken: number
  /** What was taken in and may still change. */
  readonly rest: string
  /** The end of what came, while it may be half of an escape sequence. */
  readonly held: string
  readonly fence: Fence | undefined
  /** Whether something was handed over, so that an empty line belongs before the next block. */
  readonly begun: boolean
}

export const START: Flow = { taken: 0, rest: '', held: '', fence: undefined, begun: false }

export interface Drawn {
  flow: Flow
  /** Lines that will not change any more, and were not handed over before. */
  done: Line[]
  live: Line[]
}

/** A block may grow this long; then it is cut, so that drawing it again stays cheap. The rows of a table need its head. */
const LONGEST = 8_000
const LONGEST_TABLE = 64_000
const HALF_SEQUENCE = /(?:\u001b(?:\[[0-?]*[ -/]*|\][^\u0007\u001b]{0,500}|[PX^_][^\u001b]{0,500})?|\r)$/
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/
const FENCE_AHEAD = /^(?:`{3,}[^`\n]*|~{3,}[^\n]*)\n/m
const HALF_FENCE = /^ {0,3}(?:`{3,}|~{3,})[^\n]*$/
/** What may yet turn out to go on the block before it: the mark of another item, say. */
const HALF_MARK = /^[ \t]*(?:[-*+>|]|\d{1,9}[.)]?|#{1,6}|`{1,3}|~{1,3}|[-=]+)?[ \t]*$/

/** Draws what came since. `text` is all of it; once it is `whole`, nothing is left alive. */
export function drawn(before: Flow, text: string, columns: number, whole: boolean): Drawn {
  const raw = before.held + text.slice(before.taken)
  const held = whole ? '' : (HALF_SEQUENCE.exec(raw)?.[0] ?? '')
  const came = sanitizeText(raw.slice(0, raw.length - held.length))
  const hand = new Hand({ ...before, taken: text.length, held, rest: before.rest + came }, columns)
  hand.finish(whole)
  return { flow: hand.flow, done: hand.done, live: whole ? [] : hand.live() }
}

class Hand {
  readonly done: Line[] = []
  flow: Flow
  readonly #columns: number

  constructor(flow: Flow, columns: number) {
    this.flow = flow
    this.#columns = columns
  }

  #say(lines: readonly Line[]): void {
    if (lines.length === 0) return
    if (this.flow.begun) this.done.push([])
    this.done.push(...lines)
    this.flow = { ...this.flow, begun: true }
  }

  finish(whole: boolean): void {
    for (;;) {
      const { rest, fence } = this.flow
      if (rest === '' && !fence) return
      const went = fence ? this.#code(fence, whole) : (this.#openFence() ?? this.#blocks(whole))
      if (!went) return
    }
  }

  /** A fence opens: from here on every line is final as soon as it is whole. */
  #openFence(): boolean | undefined {
    const leading = /^\n*/.exec(this.flow.rest)?.[0].length ?? 0
    const rest = this.flow.rest.slice(leading)
    const [opening, mark, info] = FENCE.exec(rest) ?? []
    if (opening === undefined || mark === undefined || (mark.startsWith('`') && info?.includes('`'))) return undefined
    this.flow = { ...this.flow, rest: rest.slice(opening.length), fence: { mark, language: languageName(info?.trim()), open: undefined } }
    if (this.flow.begun) this.done.push([])
    this.flow = { ...this.flow, begun: true }
    return true
  }

  #code(fence: Fence, whole: boolean): boolean {
    const texts = this.flow.rest.split('\n')
    const closing = new RegExp(`^ {0,3}${fence.mark[0] === '`' ? '`' : '~'}{${fence.mark.length},}[ \\t]*$`)
    const end = texts.findIndex((each, index) => closing.test(each) && (whole || index < texts.length - 1))
    const tail = texts.at(-1) ?? ''
    const last = (whole && tail !== '') || tail.length > LONGEST ? texts.length : texts.length - 1
    const body = texts.slice(0, end === -1 ? last : end)
    const { lines, open } = codeLines(body, fence.language, this.#columns, fence.open)
    this.done.push(...lines)
    if (end === -1) {
      this.flow = { ...this.flow, rest: whole || last === texts.length ? '' : tail, fence: whole ? undefined : { ...fence, open } }
      return false
    }
    this.flow = { ...this.flow, rest: texts.slice(end + 1).join('\n'), fence: undefined }
    return true
  }

  /** Hands over every block but the last, which may go on. False when there was none to hand over. */
  #blocks(whole: boolean): boolean {
    const { rest } = this.flow
    // What stands before a fence is whole, and need not be read again for each fence that follows.
    const fence = rest.search(FENCE_AHEAD)
    if (fence > 0) return this.#handOver(blocksOf(rest.slice(0, fence)))
    const blocks = blocksOf(rest)
    let kept = whole ? blocks.length : lastIndex(blocks)
    // A fence in the middle is drawn by lines, from its own beginning.
    const fenced = blocks.findIndex(({ type, raw }) => type === 'code' && FENCE.test(raw))
    if (fenced > 0 && fenced < kept) kept = fenced
    if (kept === 0) return this.#cut(blocks[0]?.type === 'table' ? LONGEST_TABLE : LONGEST)
    return this.#handOver(blocks.slice(0, kept))
  }

  #handOver(blocks: ReturnType<typeof blocksOf>): boolean {
    this.#say(spaced(blocks.map((block) => blockLines(block, this.#columns))))
    const length = blocks.reduce((sum, { raw }) => sum + raw.length, 0)
    this.flow = { ...this.flow, rest: this.flow.rest.slice(length) }
    return length > 0
  }

  /** A block that grew too long goes on below as if it were another, without an empty line between them. */
  #cut(longest: number): boolean {
    const { rest } = this.flow
    if (rest.length <= longest) return false
    const at = lastBreak(rest)
    this.#say(spaced(blocksOf(rest.slice(0, at)).map((block) => blockLines(block, this.#columns))))
    this.flow = { ...this.flow, rest: rest.slice(at), begun: false }
    return false
  }

  /** What may still change, as it looks now. */
  live(): Line[] {
    const { rest, fence, begun } = this.flow
    if (fence) return rest === '' ? [] : codeLines([rest], fence.language, this.#columns, fence.open).lines
    if (rest.trim() === '' || HALF_FENCE.test(rest.trimStart())) return []
    const lines = spaced(blocksOf(completed(rest)).map((block) => blockLines(block, this.#columns)))
    return begun && lines.length > 0 ? [[], ...lines] : lines
  }
}

/** The last block that is something, unless what follows is too little to tell whether it goes on. */
function lastIndex(blocks: ReturnType<typeof blocksOf>): number {
  const last = blocks.findLastIndex(({ type }) => type !== 'space')
  const raw = blocks[last]?.raw ?? ''
  if (last > 0 && (HALF_MARK.test(raw) || HALF_FENCE.test(raw)))
    return Math.max(
      0,
      blocks.slice(0, last).findLastIndex(({ type }) => type !== 'space'),
    )
  return Math.max(0, last)
}

/** Where a long text can be cut: at the end of a line, else of a word, not too near its end. */
function lastBreak(text: string): number {
  const before = text.length - 200
  const at = Math.max(text.lastIndexOf('\n', before), 0) || text.lastIndexOf(' ', before)
  return at > 0 ? at + 1 : text.length
}

/** Half a table is shown as one: its second line is guessed until it is there. */
function completed(rest: string): string {
  const lines = rest.split('\n')
  const first = lines.findLastIndex((each) => each.trim() === '') + 1
  const head = lines[first] ?? ''
  if (!/^\s{0,3}\|.*\|\s*$/.test(head) || lines.length - first > 2) return rest
  const second = lines[first + 1] ?? ''
  if (!/^[\s|:-]*$/.test(second)) return rest
  const count = head.trim().replaceAll('\\|', '').split('|').length - 2
  return [...lines.slice(0, first + 1), `|${' --- |'.repeat(Math.max(1, count))}`].join('\n')
}
