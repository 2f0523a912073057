/** Asks an agent a single question without a conversation: only the usage of its model calls is stored. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { ReplyEvent } from '../../../src/contract/reply-events.ts'
import type { LoadedAgent } from '../../agents/service.ts'
import type { Acquire } from '../../async/semaphore.ts'
import { type Caller, getUserId } from '../../core/caller.ts'
import type { CallOrigin, Meter, Settlement } from '../../core/meter.ts'
import type { MemoriesService } from '../../memories/service.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import { estimateInput } from '../../models/token-estimate.ts'
import type { Shared } from '../../shared-services.ts'
import { ActiveReply } from '../reply/active-reply.ts'
import { MessageDraft } from '../reply/message-draft.ts'
import type { StoredMessage } from '../store.ts'
import { addFacts, addMemories, findMemoryOwner } from './add-memories-to-prompt.ts'
import { composeFirstInput, runAgentLoop } from './agent-loop.ts'
import { requireFitsContext } from './compose-input.ts'
import { createTurnContext } from './turn-context.ts'
import { UsageRecorder } from './usage-recorder.ts'

interface AskOnceDependencies extends Shared<'database' | 'logger' | 'telemetry'> {
  meter: Meter
  memories: MemoriesService
}

interface AskOnceInput {
  loadedAgent: LoadedAgent
  model: ChatModel
  question: string
  caller: Caller
  /** Attribution of the model calls, in addition to the agent. */
  origin: CallOrigin
  /** Acquires a slot before the first model call. Latency is measured from then on. */
  turn: Acquire
  signal: AbortSignal
  /** Facts that the agent remembers for this question only. */
  facts?: readonly string[] | undefined
  /** Whether the agent reads what it remembers about the caller. */
  usesMemory?: boolean
  /** Receives the events of the reply, except message_start and the last one. */
  onEvent?: (event: ReplyEvent) => void
}

interface AskOnceResult {
  /** The reply as a conversation would have stored it. */
  message: StoredMessage
  /** The last model call, which the caller settles together with its own result. */
  unsettled: Settlement
}

export type AskOnce = (input: AskOnceInput) => Promise<AskOnceResult>

/** Rejects calls of tools that require confirmation, because no user is present. */
export async function askOnce(dependencies: AskOnceDependencies, input: AskOnceInput): Promise<AskOnceResult> {
  const { database, meter, memories, logger, telemetry } = dependencies
  const { loadedAgent, model, question, caller, turn, signal } = input
  const { agent, systemPrompt } = loadedAgent
  requireFitsContext(model, systemPrompt, question)
  const origin = { ...input.origin, agent_id: agent.id, prompt_template_id: agent.prompt_template_id }
  const reply = new ActiveReply('', '', new MessageDraft({ id: '', timestamp: new Date().toISOString(), model_id: model.id }), { signal })
  const { facts = [] } = input
  const plain = addFacts(createTurnContext(loadedAgent, model, { question, history: [] }, { caller, origin, signal }), facts)
  const context = await addMemories(plain, memories, input.usesMemory ? findMemoryOwner(loadedAgent, caller, getUserId(caller)) : undefined)
  const recorder = new UsageRecorder({ database, meter, model, origin, reply, maxTokens: context.maxTokens }, { isBatched: true })
  const firstRequest = composeFirstInput(context)
  if (input.onEvent) void forwardEvents(reply.follow(), input.onEvent)
  let endTurn: (() => void) | undefined
  let wasCalled = false
  try {
    if (firstRequest) await recorder.beginCall(() => estimateInput(firstRequest))
    endTurn = await turn()
    signal.throwIfAborted()
    wasCalled = true
    reply.draft.startTimer()
    const { finishReason, settled } = await runAgentLoop({ context, firstRequest, reply, recorder, database, logger, telemetry })
    const unsettled = recorder.takeLastCall(settled)
    return { message: reply.draft.toMessage(finishReason), unsettled }
  } catch (error) {
    const read = wasCalled && (signal.aborted || (error instanceof CadreError && error.code === 'PROVIDER_TIMEOUT'))
    const usage = recorder.estimateOpenCall(signal.aborted ? 'aborted' : 'failed', read)
    if (usage) await recorder.settleCall(usage)
    throw error
  } finally {
    endTurn?.()
    reply.events.end()
  }
}

async function forwardEvents(events: AsyncIterable<ReplyEvent>, onEvent: (event: ReplyEvent) => void): Promise<void> {
  for await (const event of events) onEvent(event)
}
