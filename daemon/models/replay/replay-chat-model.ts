/** A chat model that replays recorded responses of another model: offline, free and deterministic. */
import { hash } from 'node:crypto'
import { CadreError } from '../../../src/contract/errors.ts'
import { raceAbort } from '../../async/abortable.ts'
import { createDeferred } from '../../async/deferred.ts'
import type { Meter } from '../../core/meter.ts'
import { stringifySorted } from '../../core/stringify-sorted.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { ChatInput, ChatModel, ChatPart, ContextWindow } from '../chat-model.ts'
import { addPart, computeCallUsage, estimateInput, type ReceivedReply } from '../token-estimate.ts'
import { findRecording, type StoredRecording, saveRecording } from './recording-store.ts'

interface ReplayDependencies extends Pick<ChatModel, 'id' | 'name' | 'canCallTools' | 'canReadImages'> {
  database: Database
  meter: Meter
  window: Readonly<ContextWindow>
  /** Locks by model and request: concurrent identical requests are recorded, and paid for, once. */
  pendingRequests: Map<string, Promise<void>>
  /** The model to record; undefined if recording is off or the model was deleted. */
  source: ChatModel | undefined
  /** Why there is no source. */
  unavailableReason: string
}

export function createReplayChatModel(dependencies: ReplayDependencies): ChatModel {
  const { id, name, database, meter, canCallTools, canReadImages, pendingRequests, source } = dependencies
  const { contextTokens, isContextKnown } = dependencies.window

  async function* stream(chatRequest: ChatInput): AsyncGenerator<ChatPart> {
    const { signal } = chatRequest
    signal?.throwIfAborted()
    const request = toStoredRequest(chatRequest)
    const key = hashRequest(request)
    const unlock = await lock(`${id} ${key}`, signal)
    let recording: StoredRecording | undefined
    try {
      recording = await findRecording(database, id, key)
      if (!recording) {
        if (!source) throw createMissingRecordingError(name, key, dependencies.unavailableReason)
        return yield* record(source, chatRequest, request, key)
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
  async function lock(slot: string, signal: AbortSignal | undefined): Promise<() => void> {
    for (let pending = pendingRequests.get(slot); pending; pending = pendingRequests.get(slot))
      await (signal ? raceAbort(pending, signal) : pending)
    const { promise, resolve } = createDeferred<void>()
    pendingRequests.set(slot, promise)
    return () => {
      pendingRequests.delete(slot)
      resolve()
    }
  }

  /** The call is metered for the recorded model; replays are free. */
  async function* record(
    source: ChatModel,
    chatRequest: ChatInput,
    request: StoredRecording['request'],
    key: string,
  ): AsyncGenerator<ChatPart> {
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

  return { id, name, canCallTools, canReadImages, contextTokens, isContextKnown, price: { input: 0, output: 0 }, stream }
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
export const hashRequest = (request: StoredRecording['request']): string => hash('sha256', stringifySorted(request), 'hex')

const createMissingRecordingError = (name: string, key: string, reason: string) =>
  new CadreError('PROVIDER_ERROR', `The model "${name}" has no recording of this request (${key.slice(0, 12)}), and ${reason}.`, {
    hint: 'To record it, set recording to true while the recorded model is available, and repeat the request.',
  })
