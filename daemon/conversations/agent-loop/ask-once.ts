/** Asks an agent one question and keeps no conversation of it: its calls are counted, and nothing else is stored. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { AgentAtWork } from '../../agents/service.ts'
import type { Turn } from '../../async/semaphore.ts'
import type { Caller } from '../../core/caller.ts'
import { type CallOrigin, costOf, type Meter, type MeteredModel, type SettledCall, type Settlement } from '../../core/meter.ts'
import type { Logger } from '../../logging/logger.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import { estimateRequest } from '../../models/token-estimate.ts'
import type { Database } from '../../store/database.ts'
import { Reply } from '../reply/active-reply.ts'
import { Draft } from '../reply/message-draft.ts'
import type { StoredMessage } from '../store.ts'
import { type Bookkeeping, converse, firstRequest } from './agent-loop.ts'
import { type Composed, requireRoom } from './context-window.ts'

export interface AskingParts {
  database: Database
  meter: Meter
  logger: Logger
}

export interface Asked {
  agent: AgentAtWork
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
  readonly #parts: AskingParts

  constructor(parts: AskingParts) {
    this.#parts = parts
  }

  /** The reply as a conversation would have stored it, and its last call, to be settled with what comes of it. Tools that ask before each use are refused: nobody is there to say yes. */
  async ask({ agent, model, question, caller, origin, turn, signal }: Asked): Promise<{ message: StoredMessage; unsettled: Settlement }> {
    const { database, meter, logger } = this.#parts
    requireRoom(model, agent.prompt, question)
    const whole: CallOrigin = {
      ...origin,
      agent_id: agent.id,
      ...(agent.templateId === null ? {} : { prompt_template_id: agent.templateId }),
    }
    const reply = new Reply('', '', new Draft({ id: '', timestamp: new Date().toISOString(), model_id: model.id }), signal)
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
    const books = new CallsOnly(database, meter, model, whole, reply.draft)
    const first = firstRequest(scene)
    let asked = false
    try {
      await books.open(first)
      end = await turn()
      signal.throwIfAborted()
      asked = true
      reply.draft.begin()
      const { reason, settled } = await converse({ scene, first, reply, books, logger })
      const unsettled = books.last(settled)
      return { message: reply.draft.message(reason), unsettled }
    } catch (error) {
      const read = asked && (signal.aborted || (error instanceof CadreError && error.code === 'PROVIDER_TIMEOUT'))
      await books.cutOff(signal.aborted ? 'aborted' : 'failed', read)
      throw error
    } finally {
      end?.()
    }
  }
}

/** Counts calls, and that is all. */
class CallsOnly implements Bookkeeping {
  readonly #database: Database
  readonly #meter: Meter
  readonly #model: MeteredModel
  readonly #origin: CallOrigin
  readonly #draft: Draft
  #open: { entry: string; estimatedInput: number } | undefined

  constructor(database: Database, meter: Meter, model: MeteredModel, origin: CallOrigin, draft: Draft) {
    this.#database = database
    this.#meter = meter
    this.#model = model
    this.#origin = origin
    this.#draft = draft
  }

  /** Enters the first call, where that is made at once. */
  async open(first: Composed | undefined): Promise<void> {
    if (first) await this.next(() => estimateRequest(first))
  }

  async next(estimate: () => number): Promise<void> {
    if (this.#open) return
    const estimatedInput = estimate()
    const call = { model: this.#model, kind: 'chat' as const, origin: this.#origin, estimatedInput }
    const entry = await this.#meter.enter(call)
    this.#open = { entry, estimatedInput }
  }

  async step(settled: SettledCall): Promise<void> {
    const { entry } = this.#open as { entry: string }
    const cost = await this.#database.enter((transaction) => this.#meter.settle(transaction, entry, settled))
    this.#draft.count(settled, cost)
    this.#open = undefined
  }

  last(settled: SettledCall): Settlement {
    const { entry } = this.#open as { entry: string }
    this.#draft.count(settled, costOf(this.#model.price, settled))
    this.#open = undefined
    return { entry, call: settled }
  }

  /** A provider that refused, or was never asked, has read nothing. */
  async cutOff(status: 'failed' | 'aborted', read: boolean): Promise<void> {
    if (!this.#open) return
    await this.step({ input_tokens: read ? this.#open.estimatedInput : 0, output_tokens: 0, status, estimated: true })
  }
}
