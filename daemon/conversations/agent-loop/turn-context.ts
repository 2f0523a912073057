/** Everything the agent loop needs to answer a message: model, tools, prompt and question. */
import type { LoadedAgent } from '../../agents/service.ts'
import type { Toolset } from '../../agents/toolset.ts'
import type { ToolContext } from '../../core/tool.ts'
import type { ChatModel, SamplingSettings, ToolChoice, ToolDefinition } from '../../models/chat-model.ts'
import type { Shared } from '../../shared-services.ts'
import type { ActiveReply } from '../reply/active-reply.ts'
import type { StoredHistory } from '../summaries/stored-history.ts'
import type { ComposedInput, PromptInput } from './compose-input.ts'
import type { UsageRecorder } from './usage-recorder.ts'

export interface TurnContext extends PromptInput {
  model: ChatModel
  toolset: Toolset
  temperature: number | null
  sampling: SamplingSettings
  /** Tools that the client executes: a call of one ends the reply. */
  clientTools: readonly ToolDefinition[]
  toolChoice: ToolChoice
  toolUse: ToolContext
  /** Whether the history contains text that the user did not write. */
  hasUntrustedHistory: boolean
  /** The stored messages of the history; undefined if it is not stored, or not summarized. */
  past?: StoredHistory | undefined
}

export interface AgentLoopInput extends Shared<'database' | 'logger' | 'telemetry'> {
  context: TurnContext
  /** The first request, if it was composed (and recorded) before the loop starts. */
  firstRequest: ComposedInput | undefined
  reply: ActiveReply
  recorder: UsageRecorder
}

/** Without permission to call the client's tools, only the agent's are offered, if it has any. */
export function listOfferedTools({ model, toolset, clientTools, toolChoice }: TurnContext): readonly ToolDefinition[] {
  if (!model.canCallTools) return []
  const { definitions } = toolset
  return toolChoice === 'none' && definitions.length > 0 ? definitions : [...definitions, ...clientTools]
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
  prompt: Omit<PromptInput, 'system' | 'contextTokens' | 'maxTokens'> & { hasUntrustedHistory?: boolean },
  toolUse: ToolContext,
  options: ReplyOptions = {},
): TurnContext {
  // Earlier replies of an agent with tools may quote what these returned.
  const hasResults = prompt.history.some((turn) => turn.some(({ role }) => role === 'tool'))
  return {
    hasUntrustedHistory: hasResults || (prompt.history.length > 0 && toolset.names.length > 0),
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
