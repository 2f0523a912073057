/** A whole reply in one go, metered: for answers that nobody watches being written. */

import type { Acquire } from '../async/semaphore.ts'
import { type CallOrigin, type CallUsage, computeCost, type Meter, type Settlement } from '../core/meter.ts'
import type { Database } from '../store/database.ts'
import type { ChatModel, ChatRequest, FinishReason, TokenUsage } from './chat-model.ts'
import { computeSettledCall, estimateRequest, type ReceivedReply } from './token-estimate.ts'

export interface GeneratedText {
  text: string
  model_id: string
  usage: TokenUsage
  /** Null where the price is not known. */
  cost: number | null
  finishReason: FinishReason
  latencyMs: number
}

export interface GenerationDependencies {
  database: Database
  meter: Meter
}

export interface GenerationOptions {
  origin: CallOrigin
  /** Waited for once the call is entered. */
  turn?: Acquire | undefined
}

/** Entered before the call and settled after it, once, however it ends. */
export async function generateText(
  books: GenerationDependencies,
  model: ChatModel,
  request: ChatRequest,
  occasion: GenerationOptions,
): Promise<GeneratedText> {
  const { unsettled, ...generated } = await generateUnsettledText(books, model, request, occasion)
  await books.database.write((transaction) => books.meter.settle(transaction, unsettled.entry, unsettled.call))
  return generated
}

/** The same, but what a call took that went well is left to whoever asked: it can be settled with what comes of it. */
export async function generateUnsettledText(
  { database, meter }: GenerationDependencies,
  model: ChatModel,
  request: ChatRequest,
  { origin, turn }: GenerationOptions,
): Promise<GeneratedText & { unsettled: Settlement }> {
  const { signal } = request
  signal?.throwIfAborted()
  const estimatedInput = estimateRequest(request)
  const beginning = { model, kind: 'chat' as const, origin, estimatedInput }
  const entry = await (turn
    ? meter.beginWithoutFlush(beginning)
    : database.writeWithoutFlush((transaction) => meter.begin(transaction, beginning)))
  const end = await turn?.()
  const begun = performance.now()
  const asked = !signal?.aborted
  const heard: ReceivedReply = { text: '', parts: 0, usage: undefined }
  let finishReason: FinishReason = 'other'
  try {
    signal?.throwIfAborted()
    for await (const part of model.stream(request)) {
      heard.parts++
      if (part.type === 'text') heard.text += part.text
      if (part.type === 'end') [finishReason, heard.usage] = [part.finishReason, part.usage]
    }
  } catch (error) {
    const call = asked ? computeSettledCall(request, heard, signal?.aborted ? 'aborted' : 'failed') : NOTHING
    await database.write((transaction) => meter.settle(transaction, entry, call))
    throw error
  } finally {
    end?.()
  }
  const call = computeSettledCall(request, heard, 'done')
  const usage = { inputTokens: call.input_tokens, outputTokens: call.output_tokens, cachedTokens: call.cached_tokens ?? 0 }
  const latencyMs = performance.now() - begun
  return {
    text: heard.text,
    model_id: model.id,
    usage,
    cost: computeCost(model.price, call),
    finishReason,
    latencyMs,
    unsettled: { entry, call },
  }
}

/** Of a call that was given up before it was made. */
const NOTHING: CallUsage = { input_tokens: 0, output_tokens: 0, status: 'aborted', estimated: true }
