/** A chat model that replays recorded responses of another model: offline, free and deterministic. */
import { hash } from 'node:crypto'
import { CadreError } from '../../../src/contract/errors.ts'
import { raceAbort } from '../../async/abortable.ts'
import { createDeferred } from '../../async/deferred.ts'
import type { Meter } from '../../core/meter.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { ChatInput, ChatModel, ChatPart, ContextWindow } from '../chat-model.ts'
import { addPart, computeCallUsage, estimateInput, type ReceivedReply } from '../token-estimate.ts'
import { findRecording, type StoredRecording, saveRecording } from './recording-store.ts'

interface ReplayDependencies {
  id: string
  name: string
  database: Database
  meter: Meter
  canCallTools: boolean
  canReadImages: boolean | null
  window: Readonly<ContextWindow>
  /** Locks by model and request: concurrent identical requests are recorded, and paid for, once. */
  pendingRequests: Map<string, Promise<void>>
  /** The model to record; undefined if recording is off or the model was deleted. */
  source: ChatModel | undefined
  /** Why there is no source. */
  unavailableReason: string
}

export class ReplayChatModel implements ChatModel {
  readonly id: string
  readonly name: string
  readonly canCallTools: boolean
  readonly canReadImages: boolean | null
  readonly contextTokens: number
  readonly isContextKnown: boolean
  readonly price = { input: 0, output: 0 }
  readonly #dependencies: ReplayDependencies

  constructor(dependencies: ReplayDependencies) {
    this.id = dependencies.id
    this.name = dependencies.name
    this.canCallTools = dependencies.canCallTools
    this.canReadImages = dependencies.canReadImages
    this.contextTokens = dependencies.window.contextTokens
    this.isContextKnown = dependencies.window.isContextKnown
    this.#dependencies = dependencies
  }

  async *stream(chatRequest: ChatInput): AsyncGenerator<ChatPart> {
    const { id, database, source, unavailableReason } = this.#dependencies
    const { signal } = chatRequest
    signal?.throwIfAborted()
    const request = toStoredRequest(chatRequest)
    const key = hashRequest(request)
    const unlock = await this.#lock(`${id} ${key}`, signal)
    let recording: StoredRecording | undefined
    try {
      recording = await findRecording(database, id, key)
      if (!recording) {
        if (!source) throw createMissingRecordingError(this.name, key, unavailableReason)
        return yield* this.#record(source, chatRequest, request, key)
      }
    } finally {
      unlock()
    }
    for (const part of recording.parts as unknown as ChatPart[]) {
      signal?.throwIfAborted()
      yield part
    }
  }

  /** Waits for identical requests. Must precede the lookup, which would miss a recording made meanwhile. */
  async #lock(name: string, signal: AbortSignal | undefined): Promise<() => void> {
    const { pendingRequests } = this.#dependencies
    for (let pending = pendingRequests.get(name); pending; pending = pendingRequests.get(name))
      await (signal ? raceAbort(pending, signal) : pending)
    const { promise, resolve } = createDeferred<void>()
    pendingRequests.set(name, promise)
    return () => {
      pendingRequests.delete(name)
      resolve()
    }
  }

  /** The call is metered for the recorded model; replays are free. */
  async *#record(source: ChatModel, chatRequest: ChatInput, request: StoredRecording['request'], key: string): AsyncGenerator<ChatPart> {
    const { id, database, meter } = this.#dependencies
    await meter.checkBudget(source, {})
    const estimatedInput = estimateInput(chatRequest)
    const call = { model: source, kind: 'chat' as const, origin: {}, estimatedInput, maxOutput: chatRequest.maxTokens }
    const entry = await database.write((transaction) => meter.begin(transaction, call))
    const parts: ChatPart[] = []
    const received: ReceivedReply = { text: '', parts: 0, usage: undefined }
    let status: 'done' | 'failed' | 'aborted' = 'failed'
    let isSettled = false
    const settle = (transaction: Transaction) => meter.settle(transaction, entry, computeCallUsage(chatRequest, received, status))
    try {
      for await (const part of source.stream(chatRequest)) {
        addPart(received, part)
        appendPart(parts, part)
        if (part.type === 'end') {
          status = 'done'
          const storedParts = parts as unknown as StoredRecording['parts']
          const recording = { key, request, parts: storedParts, created_at: new Date().toISOString() }
          // In one transaction: replays of the recording are never metered.
          await database.write(async (transaction) => {
            await saveRecording(transaction, id, recording)
            await settle(transaction)
          })
          isSettled = true
        }
        yield part
      }
    } finally {
      if (chatRequest.signal?.aborted) status = 'aborted'
      if (!isSettled) await database.write(settle)
    }
  }
}

/** Joins consecutive texts, and consecutive reasoning. */
function appendPart(parts: ChatPart[], part: ChatPart): void {
  const last = parts.at(-1)
  if ('text' in part && last !== undefined && 'text' in last && last.type === part.type) last.text += part.text
  else parts.push({ ...part })
}

/** Everything that determines the reply. */
function toStoredRequest({
  signal: _signal,
  countDocuments: _count,
  compute: _compute,
  listNeighbours: _neighbours,
  owner: _owner,
  priority: _priority,
  ...request
}: ChatInput): StoredRecording['request'] {
  return JSON.parse(JSON.stringify(request)) as StoredRecording['request']
}

/** Returns a key that does not depend on the order of fields. */
export function hashRequest(request: StoredRecording['request']): string {
  const json = JSON.stringify(request, (_, value: unknown) =>
    isPlainObject(value) ? Object.fromEntries(Object.entries(value).sort(compareNames)) : value,
  )
  return hash('sha256', json, 'hex')
}

const isPlainObject = (value: unknown): value is object => value !== null && typeof value === 'object' && !Array.isArray(value)
const compareNames = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0)

const createMissingRecordingError = (name: string, key: string, reason: string) =>
  new CadreError('PROVIDER_ERROR', `The model "${name}" has no recording of this request (${key.slice(0, 12)}), and ${reason}.`, {
    hint: 'To record it, set recording to true while the recorded model is available, and repeat the request.',
  })
