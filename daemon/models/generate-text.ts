/** Generates a complete reply and records its usage. */
import type { Acquire } from '../async/semaphore.ts'
import { type CallOrigin, type CallUsage, computeCost, type Meter, type Settlement } from '../core/meter.ts'
import type { Database } from '../store/database.ts'
import type { ChatModel, ChatRequest } from './chat-model.ts'
import { computeCallUsage, estimateRequest, type ReceivedReply } from './token-estimate.ts'

export interface GeneratedText {
  text: string
  usage: CallUsage
  /** Null if the price is unknown. */
  cost: number | null
  latencyMs: number
}

/** A text whose usage the caller settles, in the transaction that stores it. */
export interface UnsettledText extends GeneratedText {
  unsettled: Settlement
}

interface GenerationDependencies {
  database: Database
  meter: Meter
}

export interface GenerationOptions {
  origin: CallOrigin
  /** Awaited after the call is entered in the ledger and before it is made. */
  turn?: Acquire | undefined
}

/** Enters the call in the ledger, makes it and settles it exactly once, also when it fails. */
export async function generateText(
  dependencies: GenerationDependencies,
  model: ChatModel,
  request: ChatRequest,
  options: GenerationOptions,
): Promise<GeneratedText> {
  const { unsettled, ...generated } = await generateUnsettledText(dependencies, model, request, options)
  await dependencies.database.write((transaction) => dependencies.meter.settle(transaction, unsettled.entry, unsettled.call))
  return generated
}

export async function generateUnsettledText(
  { database, meter }: GenerationDependencies,
  model: ChatModel,
  request: ChatRequest,
  { origin, turn }: GenerationOptions,
): Promise<UnsettledText> {
  const { signal } = request
  signal?.throwIfAborted()
  const call = { model, kind: 'chat' as const, origin, estimatedInput: estimateRequest(request) }
  const entry = await (turn ? meter.beginWithoutFlush(call) : database.writeWithoutFlush((transaction) => meter.begin(transaction, call)))
  const endTurn = await turn?.()
  const startTime = performance.now()
  const isCalled = !signal?.aborted
  const received: ReceivedReply = { text: '', parts: 0, usage: undefined }
  try {
    signal?.throwIfAborted()
    for await (const part of model.stream(request)) {
      received.parts++
      if (part.type === 'text') received.text += part.text
      if (part.type === 'end') received.usage = part.usage
    }
  } catch (error) {
    const failedCall = isCalled ? computeCallUsage(request, received, signal?.aborted ? 'aborted' : 'failed') : ABORTED_BEFORE_CALL
    await database.write((transaction) => meter.settle(transaction, entry, failedCall))
    throw error
  } finally {
    endTurn?.()
  }
  const latencyMs = performance.now() - startTime
  const usage = computeCallUsage(request, received, 'done')
  return { text: received.text, usage, cost: computeCost(model.price, usage), latencyMs, unsettled: { entry, call: usage } }
}

const ABORTED_BEFORE_CALL: CallUsage = { input_tokens: 0, output_tokens: 0, status: 'aborted', estimated: true }
