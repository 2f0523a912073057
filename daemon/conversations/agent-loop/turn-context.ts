/** Everything the agent loop needs to answer a message: model, tools, prompt and question. */
import type { LoadedAgent } from '../../agents/service.ts'
import type { Toolset } from '../../agents/toolset.ts'
import type { ToolContext } from '../../core/tool.ts'
import type { ChatModel, SamplingSettings, ToolChoice, ToolDefinition } from '../../models/chat-model.ts'
import type { PromptInput } from './context-window.ts'

export interface TurnContext extends PromptInput {
  model: ChatModel
  toolset: Toolset
  temperature: number | null
  sampling: SamplingSettings
  /** Tools that the client executes: a call of one ends the reply. */
  clientTools: readonly ToolDefinition[]
  toolChoice: ToolChoice
  toolUse: ToolContext
}

/** What a client can set for one reply, in addition to the agent's settings. */
export interface ReplyOptions {
  temperature?: number | undefined
  /** Lowers the agent's limit and never raises it. */
  maxTokens?: number | undefined
  sampling?: SamplingSettings | undefined
  tools?: readonly ToolDefinition[] | undefined
  toolChoice?: ToolChoice | undefined
}

/** The parts of an agent that its replies depend on. A model without an agent has no tools and no settings. */
export type Responder = Pick<LoadedAgent, 'systemPrompt' | 'toolset'> & { agent: Pick<LoadedAgent['agent'], 'max_tokens' | 'temperature'> }

export function createTurnContext(
  { agent: { max_tokens, temperature }, systemPrompt: system, toolset }: Responder,
  model: ChatModel,
  prompt: Omit<PromptInput, 'system' | 'contextTokens' | 'maxTokens'>,
  toolUse: ToolContext,
  options: ReplyOptions = {},
): TurnContext {
  return {
    ...prompt,
    model,
    toolset,
    system,
    contextTokens: model.contextTokens,
    maxTokens: options.maxTokens === undefined ? max_tokens : Math.min(options.maxTokens, max_tokens ?? options.maxTokens),
    temperature: options.temperature ?? temperature,
    sampling: options.sampling ?? {},
    clientTools: options.tools ?? [],
    toolChoice: options.toolChoice ?? 'auto',
    toolUse,
  }
}
