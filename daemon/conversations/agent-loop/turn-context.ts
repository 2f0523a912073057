/** Everything the agent loop needs to answer a message: model, tools, prompt and question. */
import type { LoadedAgent } from '../../agents/service.ts'
import type { Toolset } from '../../agents/toolset.ts'
import type { ToolContext } from '../../core/tool.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import type { PromptInput } from './context-window.ts'

export interface TurnContext extends PromptInput {
  model: ChatModel
  toolset: Toolset
  temperature: number | null
  toolUse: ToolContext
}

export function createTurnContext(
  { agent: { max_tokens: maxTokens, temperature }, systemPrompt: system, toolset }: LoadedAgent,
  model: ChatModel,
  { question, history }: Pick<PromptInput, 'question' | 'history'>,
  toolUse: ToolContext,
): TurnContext {
  return { model, toolset, system, history, question, contextTokens: model.contextTokens, maxTokens, temperature, toolUse }
}
