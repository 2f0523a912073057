/** Asks an agent one question and keeps no conversation of it: its calls are counted, and nothing else is stored. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { LoadedAgent } from '../../agents/service.ts'
import type { Turn } from '../../async/semaphore.ts'
import type { Caller } from '../../core/caller.ts'
import { type CallOrigin, costOf, type Meter, type MeteredModel, type SettledCall, type Settlement } from '../../core/meter.ts'
import type { Logger } from '../../logging/logger.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import { estimateRequest } from '../../models/token-estimate.ts'
import type { Database } from '../../store/database.ts'
import { ActiveReply } from '../reply/active-reply.ts'
import { MessageDraft } from '../reply/message-draft.ts'
import type { StoredMessage } from '../store.ts'
import { type CallRecorder, composeFirstRequest, runAgentLoop } from './agent-loop.ts'
import { type ComposedRequest, requireFitsContext } from './context-window.ts'

export interface AskOnceDependencies {
  database: Database
  meter: Meter
  logger: Logger
}

export interface AskOnceInput {
  agent: LoadedAgent
  model: ChatModel
  question: string
  caller: Caller
  /** On whose behalf, besides the agent. */
  origin: CallOrigin
  /** Waited for once all is ready; the time of the reply counts from then on. */
  turn: Turn
  signal: AbortSignal
}

export class Asking {
  readonly #parts: AskOnceDependencies

  constructor(parts: AskOnceDependencies) {
    this.#parts = parts
  }

  /** The reply as a conversation would have stored it, and its last call, to be settled with what comes of it. Tools that ask before each use are refused: nobody is there to say yes. */
  async ask({
    agent,
    model,
    question,
    caller,
    origin,
    turn,
    signal,
  }: AskOnceInput): Promise<{ message: StoredMessage; unsettled: Settlement }> {
    const { database, meter, logger } = this.#parts
    requireFitsContext(model, agent.prompt, question)
    const whole: CallOrigin = {
      ...origin,
      agent_id: agent.id,
      ...(agent.templateId === null ? {} : { prompt_template_id: agent.templateId }),
    }
    const reply = new ActiveReply('', '', new MessageDraft({ id: '', timestamp: new Date().toISOString(), model_id: model.id }), signal)
    let end: (() => void) | undefined
    const scene = {
      model,
      toolset: agent.toolset,
      system: agent.prompt,
      past: [],
      question,
      contextTokens: model.contextTokens,
      maxTokens: agent.maxTokens,
      temperature: agent.temperature,
      use: { caller, origin: whole, signal: reply.signal },
    }
    const books = new UsageRecorder(database, meter, model, whole, reply.draft)
    const first = composeFirstRequest(scene)
    let asked = false
    try {
      await books.open(first)
      end = await turn()
      signal.throwIfAborted()
      asked = true
      reply.draft.startTimer()
      const { finishReason: reason, settled } = await runAgentLoop({ context: scene, firstRequest: first, reply, recorder: books, logger })
      const unsettled = books.takeLastCall(settled)
      return { message: reply.draft.toMessage(reason), unsettled }
    } catch (error) {
      const read = asked && (signal.aborted || (error instanceof CadreError && error.code === 'PROVIDER_TIMEOUT'))
      await books.settleFailedCall(signal.aborted ? 'aborted' : 'failed', read)
      throw error
    } finally {
      end?.()
    }
  }
}

/** Counts calls, and that is all. */
class UsageRecorder implements CallRecorder {
  readonly #database: Database
  readonly #meter: Meter
  readonly #model: MeteredModel
  readonly #origin: CallOrigin
  readonly #draft: MessageDraft
  #beginFirstCall: { entry: string; estimatedInput: number } | undefined

  constructor(database: Database, meter: Meter, model: MeteredModel, origin: CallOrigin, draft: MessageDraft) {
    this.#database = database
    this.#meter = meter
    this.#model = model
    this.#origin = origin
    this.#draft = draft
  }

  /** Enters the first call, where that is made at once. */
  async open(first: ComposedRequest | undefined): Promise<void> {
    if (first) await this.beginCall(() => estimateRequest(first))
  }

  async beginCall(estimate: () => number): Promise<void> {
    if (this.#beginFirstCall) return
    const estimatedInput = estimate()
    const call = { model: this.#model, kind: 'chat' as const, origin: this.#origin, estimatedInput }
    const entry = await this.#meter.enter(call)
    this.#beginFirstCall = { entry, estimatedInput }
  }

  async settleCall(settled: SettledCall): Promise<void> {
    const { entry } = this.#beginFirstCall as { entry: string }
    const cost = await this.#database.enter((transaction) => this.#meter.settle(transaction, entry, settled))
    this.#draft.addUsage(settled, cost)
    this.#beginFirstCall = undefined
  }

  takeLastCall(settled: SettledCall): Settlement {
    const { entry } = this.#beginFirstCall as { entry: string }
    this.#draft.addUsage(settled, costOf(this.#model.price, settled))
    this.#beginFirstCall = undefined
    return { entry, call: settled }
  }

  /** A provider that refused, or was never asked, has read nothing. */
  async settleFailedCall(status: 'failed' | 'aborted', read: boolean): Promise<void> {
    if (!this.#beginFirstCall) return
    await this.settleCall({ input_tokens: read ? this.#beginFirstCall.estimatedInput : 0, output_tokens: 0, status, estimated: true })
  }
}
