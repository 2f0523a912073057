/** A model that plays back what another answered, by request: offline, at no cost, and the same every time. */
import { hash } from 'node:crypto'
import { CadreError } from '../../../src/contract/errors.ts'
import { raceAbort } from '../../async/abortable.ts'
import type { Meter } from '../../core/meter.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { ChatModel, ChatPart, ChatRequest, ContextWindow } from '../chat-model.ts'
import { computeSettledCall, estimateRequest } from '../token-estimate.ts'
import { findRecording, type StoredRecording, saveRecording } from './recording-store.ts'

export interface ReplayDependencies {
  id: string
  name: string
  database: Database
  meter: Meter
  callsTools: boolean
  window: Readonly<ContextWindow>
  /** What is being looked for or recorded, so that who asks the same meanwhile waits for it: an answer is recorded, and paid for, once. */
  pendingRequests: Map<string, Promise<void>>
  /** Who answers what was never recorded; nobody where recording is over or that model is gone. */
  source: ChatModel | undefined
  /** Why there is nobody. */
  unavailableReason: string
}

export class ReplayChatModel implements ChatModel {
  readonly id: string
  readonly name: string
  readonly canCallTools: boolean
  readonly contextTokens: number
  readonly isContextKnown: boolean
  readonly price = { input: 0, output: 0 }
  readonly #parts: ReplayDependencies

  constructor(parts: ReplayDependencies) {
    this.id = parts.id
    this.name = parts.name
    this.canCallTools = parts.callsTools
    this.contextTokens = parts.window.contextTokens
    this.isContextKnown = parts.window.isContextKnown
    this.#parts = parts
  }

  async *stream(request: ChatRequest): AsyncGenerator<ChatPart> {
    const { id, database, source, unavailableReason: silence } = this.#parts
    request.signal?.throwIfAborted()
    const asked = plain(request)
    const key = hashRequest(asked)
    const next = await this.#turn(`${id} ${key}`, request.signal)
    let known: StoredRecording | undefined
    try {
      known = await findRecording(database, id, key)
      if (!known && !source) throw neverRecorded(this.name, key, silence)
      if (!known && source) return yield* this.#recorded(source, request, asked, key)
    } finally {
      next()
    }
    for (const part of (known?.parts ?? []) as unknown as ChatPart[]) {
      request.signal?.throwIfAborted()
      yield part
    }
  }

  /** Once nobody else looks for the same or records it; returns how to let the next one. Who looked first and waited then would miss what was recorded meanwhile. */
  async #turn(what: string, signal: AbortSignal | undefined): Promise<() => void> {
    const { pendingRequests: underWay } = this.#parts
    for (let other = underWay.get(what); other; other = underWay.get(what)) await (signal ? raceAbort(other, signal) : other)
    let done = () => {}
    underWay.set(
      what,
      new Promise((resolve) => {
        done = resolve
      }),
    )
    return () => {
      underWay.delete(what)
      done()
    }
  }

  /** The recorded model's own call is counted as its own; ours costs nothing. */
  async *#recorded(source: ChatModel, request: ChatRequest, asked: StoredRecording['request'], key: string): AsyncGenerator<ChatPart> {
    const { id, database, meter } = this.#parts
    await meter.checkBudget(source, {})
    const call = { model: source, kind: 'chat' as const, origin: {}, estimatedInput: estimateRequest(request) }
    const entry = await database.write((transaction) => meter.begin(transaction, call))
    const parts: ChatPart[] = []
    const heard = { text: '', parts: 0, usage: undefined as ReturnType<typeof usageOf> }
    let status: 'done' | 'failed' | 'aborted' = 'failed'
    let settled = false
    const settle = (transaction: Transaction) => meter.settle(transaction, entry, computeSettledCall(request, heard, status))
    try {
      for await (const part of source.stream(request)) {
        heard.parts++
        if (part.type === 'text') heard.text += part.text
        heard.usage ??= usageOf(part)
        append(parts, part)
        if (part.type === 'end') {
          status = 'done'
          const recording = {
            key,
            request: asked,
            parts: parts as unknown as StoredRecording['parts'],
            created_at: new Date().toISOString(),
          }
          // With what it took: of what is played back ever after, nobody would count it again.
          await database.write(async (transaction) => {
            await saveRecording(transaction, id, recording)
            await settle(transaction)
          })
          settled = true
        }
        yield part
      }
    } finally {
      if (request.signal?.aborted) status = 'aborted'
      if (!settled) await database.write(settle)
    }
  }
}

const usageOf = (part: ChatPart) => (part.type === 'end' ? part.usage : undefined)

/** Text that came in many pieces is kept as one. */
function append(parts: ChatPart[], part: ChatPart): void {
  const last = parts.at(-1)
  if (part.type === 'text' && last?.type === 'text') last.text += part.text
  else parts.push({ ...part })
}

/** All of a request that decides its answer. */
function plain({ signal: _, ...request }: ChatRequest): StoredRecording['request'] {
  return JSON.parse(JSON.stringify(request)) as StoredRecording['request']
}

/** The same whatever the order of fields. */
export function hashRequest(request: StoredRecording['request']): string {
  return hash(
    'sha256',
    JSON.stringify(request, (_, value: unknown) => (isPlain(value) ? Object.fromEntries(Object.entries(value).sort(byName)) : value)),
    'hex',
  )
}

const isPlain = (value: unknown): value is object => value !== null && typeof value === 'object' && !Array.isArray(value)
const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0)

const neverRecorded = (name: string, key: string, silence: string) =>
  new CadreError('PROVIDER_ERROR', `The model "${name}" has no recording of this request (${key.slice(0, 12)}), and ${silence}.`, {
    hint: 'Record it once with the model there: set recording to true, and ask again.',
  })
