/** Generates a complete reply and records its usage. */
import type { Confidence } from '../../src/contract/schemas/confidence.ts'
import type { Acquire } from '../async/semaphore.ts'
import { computeCost, isFree } from '../core/compute-cost.ts'
import type { CallOrigin, CallUsage, Meter, Settlement } from '../core/meter.ts'
import type { Database } from '../store/database.ts'
import { isStorageFullError } from '../store/database-errors.ts'
import type { ChatInput, ChatModel } from './chat-model.ts'
import { addPart, computeCallUsage, estimateInput, type ReceivedReply } from './token-estimate.ts'

export interface GeneratedText {
  text: string
  usage: CallUsage
  /** Null if the price is unknown. */
  cost: number | null
  latencyMs: number
  /** Only of the embedded model. */
  confidence?: Confidence | undefined
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
  request: ChatInput,
  options: GenerationOptions,
): Promise<GeneratedText> {
  const { database, meter } = dependencies
  try {
    const { unsettled, ...generated } = await generateUnsettledText(dependencies, model, request, options)
    await database
      .write((transaction) => meter.settle(transaction, unsettled.entry, unsettled.call))
      .catch((error: unknown) => {
        // The text is complete. The next start settles the entry with its estimate.
        if (!isStorageFullError(error)) throw error
      })
    return generated
  } catch (error) {
    if (!isStorageFullError(error) || !isFree(model.price)) throw error
    return generateUnmeteredText(model, request)
  }
}

export async function generateUnsettledText(
  { database, meter }: GenerationDependencies,
  model: ChatModel,
  request: ChatInput,
  { origin, turn }: GenerationOptions,
): Promise<UnsettledText> {
  const { signal } = request
  signal?.throwIfAborted()
  const call = { model, kind: 'chat' as const, origin, estimatedInput: estimateInput(request), maxOutput: request.maxTokens }
  const entry = await (turn ? meter.beginWithoutFlush(call) : database.writeWithoutFlush((transaction) => meter.begin(transaction, call)))
  const endTurn = await turn?.()
  const startTime = performance.now()
  const isCalled = !signal?.aborted
  const received: ReceivedReply = { text: '', parts: 0, usage: undefined }
  try {
    await receiveReply(model, request, received)
  } catch (error) {
    const failedCall = isCalled ? computeCallUsage(request, received, signal?.aborted ? 'aborted' : 'failed') : ABORTED_BEFORE_CALL
    await database.write((transaction) => meter.settle(transaction, entry, failedCall))
    throw error
  } finally {
    endTurn?.()
  }
  const generated = createGeneratedText(model, request, received, startTime)
  return { ...generated, unsettled: { entry, call: generated.usage } }
}

/** On a full disk, for a model that costs nothing: an answer from documents writes nothing else. */
async function generateUnmeteredText(model: ChatModel, request: ChatInput): Promise<GeneratedText> {
  const startTime = performance.now()
  const received: ReceivedReply = { text: '', parts: 0, usage: undefined }
  await receiveReply(model, request, received)
  return createGeneratedText(model, request, received, startTime)
}

async function receiveReply(model: ChatModel, request: ChatInput, received: ReceivedReply): Promise<void> {
  request.signal?.throwIfAborted()
  for await (const part of model.stream(request)) addPart(received, part)
}

function createGeneratedText(model: ChatModel, request: ChatInput, received: ReceivedReply, startTime: number): GeneratedText {
  const latencyMs = performance.now() - startTime
  const usage = computeCallUsage(request, received, 'done')
  return { text: received.text, usage, cost: computeCost(model.price, usage), latencyMs, confidence: received.confidence }
}

const ABORTED_BEFORE_CALL: CallUsage = { input_tokens: 0, output_tokens: 0, status: 'aborted', estimated: true }
