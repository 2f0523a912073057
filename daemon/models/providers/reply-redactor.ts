/** Redacts the API key of a model from the parts of a reply, also if the key is split between texts. */
import { redactStrings } from '../../secrets/redact-strings.ts'
import { Redactor } from '../../secrets/redactor.ts'
import type { ChatPart } from '../chat-model.ts'

type TextPart = Extract<ChatPart, { text: string }>

export class ReplyRedactor {
  readonly #redactor = new Redactor()
  /** The end of the text so far, if the key may begin there. */
  #heldText = ''
  #heldType: TextPart['type'] = 'text'

  constructor(key: string) {
    this.#redactor.add(key)
  }

  redact(part: ChatPart): ChatPart[] {
    if (part.type !== 'text' && part.type !== 'reasoning')
      return [...this.flush(), redactStrings(part, (text) => this.#redactor.redactKnown(text))]
    const earlier = part.type === this.#heldType ? [] : this.flush()
    this.#heldType = part.type
    const text = this.#redactor.redactKnown(this.#heldText + part.text)
    const end = this.#redactor.findPartialSecret(text)
    this.#heldText = text.slice(end)
    return [...earlier, ...createTextParts(part.type, text.slice(0, end))]
  }

  /** Returns the held text. */
  flush(): ChatPart[] {
    const text = this.#heldText
    this.#heldText = ''
    return createTextParts(this.#heldType, text)
  }
}

const createTextParts = (type: TextPart['type'], text: string): ChatPart[] => (text === '' ? [] : [{ type, text }])
