/** All that a reply is made of before its first word: who answers, what is asked, and what may be used. */
import type { Toolset } from '../../agents/toolset.ts'
import type { ToolUse } from '../../core/tool.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import type { PromptInput } from './context-window.ts'

export interface TurnContext extends PromptInput {
  model: ChatModel
  toolset: Toolset
  temperature: number | null
  toolUse: ToolUse
}
