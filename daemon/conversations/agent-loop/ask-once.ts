/** Asks an agent a single question without a conversation: only the usage of its model calls is stored. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { ReplyEvent } from '../../../src/contract/reply-events.ts'
import type { LoadedAgent } from '../../agents/service.ts'
import type { Acquire } from '../../async/semaphore.ts'
import type { Caller } from '../../core/caller.ts'
import type { CallOrigin, Meter, Settlement } from '../../core/meter.ts'
import type { Logger } from '../../logging/logger.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import { estimateRequest } from '../../models/token-estimate.ts'
import type { Database } from '../../store/database.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { ActiveReply } from '../reply/active-reply.ts'
import { MessageDraft } from '../reply/message-draft.ts'
import type { StoredMessage } from '../store.ts'
import { composeFirstRequest, runAgentLoop } from './agent-loop.ts'
import { requireFitsContext } from './context-window.ts'
import { createTurnContext } from './turn-context.ts'
import { UsageRecorder } from './usage-recorder.ts'

interface AskOnceDependencies {
  database: Database
  meter: Meter
  logger: Logger
  telemetry: Telemetry
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
  const { database, meter, logger, telemetry } = dependencies
  const { loadedAgent, model, question, caller, turn, signal } = input
  const { agent, systemPrompt } = loadedAgent
  requireFitsContext(model, systemPrompt, question)
  const origin = { ...input.origin, agent_id: agent.id, prompt_template_id: agent.prompt_template_id }
  const reply = new ActiveReply('', '', new MessageDraft({ id: '', timestamp: new Date().toISOString(), model_id: model.id }), { signal })
  const context = createTurnContext(loadedAgent, model, { question, history: [] }, { caller, origin, signal })
  const recorder = new UsageRecorder({ database, meter, model, origin, reply }, { isBatched: true })
  const firstRequest = composeFirstRequest(context)
  if (input.onEvent) void forwardEvents(reply.follow(), input.onEvent)
  let endTurn: (() => void) | undefined
  let wasCalled = false
  try {
    if (firstRequest) await recorder.beginCall(() => estimateRequest(firstRequest))
    endTurn = await turn()
    signal.throwIfAborted()
    wasCalled = true
    reply.draft.startTimer()
    const { finishReason, settled } = await runAgentLoop({ context, firstRequest, reply, recorder, logger, telemetry })
    const unsettled = recorder.takeLastCall(settled)
    return { message: reply.draft.toMessage(finishReason), unsettled }
  } catch (error) {
    const read = wasCalled && (signal.aborted || (error instanceof CadreError && error.code === 'PROVIDER_TIMEOUT'))
    await recorder.settleFailedCall(signal.aborted ? 'aborted' : 'failed', read)
    throw error
  } finally {
    endTurn?.()
    reply.events.end()
  }
}

async function forwardEvents(events: AsyncIterable<ReplyEvent>, onEvent: (event: ReplyEvent) => void): Promise<void> {
  for await (const event of events) onEvent(event)
}
