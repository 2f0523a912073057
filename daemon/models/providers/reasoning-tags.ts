/** Separates reasoning that a model writes between tags, such as <think>…</think>, from the text of its reply. */
import type { ChatPart } from '../chat-model.ts'

type TextType = Extract<ChatPart, { text: string }>['type']

const OPENING_TAG = /^[ \t]*<(think|thinking)>/i
/** At the start of a reply, the tag may be below empty lines. */
const FIRST_OPENING_TAG = /^\s*<(think|thinking)>/i
const FENCE = /^[ \t]*(`{3,}|~{3,})/
/** The beginning of a line that may become a tag or a fence. */
const UNDECIDED = /^\s*(?:`*|~*|<[a-z]{0,8})$/i
/** In characters; more is not held back. */
const MAX_HELD_LENGTH = 80

/** Tags count at the start of a line, because replies may also be about them. In code blocks they are text. */
export class ReasoningTagParser {
  #held = ''
  #isFirstLine = true
  #isLineStart = true
  /** White space after a tag is dropped. */
  #isAfterTag = false
  /** The fence of the current code block. */
  #fence = ''
  /** The tag that ends the reasoning. */
  #closingTag: string | undefined

  parse(part: ChatPart): ChatPart[] {
    if (part.type !== 'text') return [...this.flush(), part]
    const parts: ChatPart[] = []
    let rest = this.#held + part.text
    this.#held = ''
    while (rest !== '') {
      if (this.#isAfterTag) rest = rest.trimStart()
      if (rest === '') break
      rest = this.#closingTag === undefined ? this.#readLine(rest, parts) : this.#readReasoning(rest, this.#closingTag, parts)
    }
    return parts
  }

  /** Returns the held text. */
  flush(): ChatPart[] {
    const parts: ChatPart[] = []
    append(parts, this.#closingTag === undefined ? 'text' : 'reasoning', this.#held)
    this.#held = ''
    return parts
  }

  /** Reads text to the end of the line, or an opening tag. Returns what is left. */
  #readLine(text: string, parts: ChatPart[]): string {
    if (this.#isLineStart) {
      if (text.length <= MAX_HELD_LENGTH && UNDECIDED.test(text)) {
        this.#held = text
        return ''
      }
      const tag = this.#fence === '' && (this.#isFirstLine ? FIRST_OPENING_TAG : OPENING_TAG).exec(text)
      if (tag) {
        this.#closingTag = `</${tag[1]?.toLowerCase()}>`
        this.#isAfterTag = true
        return text.slice(tag[0].length)
      }
      this.#readFence(FENCE.exec(text)?.[1])
    }
    const end = text.indexOf('\n') + 1 || text.length
    this.#isLineStart = text[end - 1] === '\n'
    this.#isFirstLine = this.#isAfterTag = false
    append(parts, 'text', text.slice(0, end))
    return text.slice(end)
  }

  #readFence(fence: string | undefined): void {
    if (fence === undefined) return
    if (this.#fence === '') this.#fence = fence
    else if (fence.startsWith(this.#fence)) this.#fence = ''
  }

  /** Reads reasoning to its closing tag, whose beginning and the white space before it are held back. Returns what is left. */
  #readReasoning(text: string, closingTag: string, parts: ChatPart[]): string {
    const end = text.search(new RegExp(closingTag, 'i'))
    if (end >= 0) {
      append(parts, 'reasoning', text.slice(0, end).trimEnd())
      this.#closingTag = undefined
      this.#isLineStart = this.#isAfterTag = true
      return text.slice(end + closingTag.length)
    }
    const tail = text.slice(-MAX_HELD_LENGTH)
    const tag = /<[^<]*$/.exec(tail)?.[0] ?? ''
    const before = closingTag.startsWith(tag.toLowerCase()) ? tail.slice(0, tail.length - tag.length) : tail
    this.#held = tail.slice(before.trimEnd().length)
    this.#isAfterTag = false
    append(parts, 'reasoning', text.slice(0, text.length - this.#held.length))
    return ''
  }
}

function append(parts: ChatPart[], type: TextType, text: string): void {
  const last = parts.at(-1)
  if (text === '') return
  if (last?.type === type) last.text += text
  else parts.push({ type, text })
}
