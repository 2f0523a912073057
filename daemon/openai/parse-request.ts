/** What both formats of requests are converted to, and how their texts are read. */
import { createValidationError } from '../../src/contract/errors.ts'
import type { ReplyOptions } from '../conversations/agent-loop/turn-context.ts'
import type { ChatMessage } from '../models/chat-model.ts'

export interface ParsedRequest {
  instructions: string
  messages: ChatMessage[]
  options: ReplyOptions
}

export const joinInstructions = (texts: readonly string[]): string => texts.filter((text) => text.trim() !== '').join('\n\n')

interface ContentPart {
  type: string
  text?: string | null
  refusal?: string | null
}

/** Joins the parts with text. Parts of `imageType` are loaded separately. */
export function readText(
  content: string | readonly ContentPart[] | null | undefined,
  field: string,
  textTypes: readonly string[],
  imageType: string,
): string {
  if (content == null) return ''
  if (typeof content === 'string') return content
  return content
    .flatMap(({ type, text, refusal }, index) => {
      if (textTypes.includes(type)) return text ?? ''
      if (type === 'refusal') return refusal ?? ''
      if (type === imageType) return []
      throw createValidationError(`${field}.${index}.type`, `${type} is not supported`, `Send ${textTypes[0]} or ${imageType}.`)
    })
    .join('\n')
}
