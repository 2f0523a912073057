/** A whole reply in one go, metered: for answers that nobody watches being written. */
import { type CallOrigin, costOf, type Meter, type SettledCall, type Settlement } from '../metering.ts'
import type { Database } from '../store/database.ts'
import type { ChatModel, ChatRequest, FinishReason, TokenUsage } from './chat.ts'
import { estimateRequest, estimateTokens } from './tokens.ts'

export interface Generated {
  text: string
  model_id: string
  usage: TokenUsage
  /** Null where the price is not known. */
  cost: number | null
  finishReason: FinishReason
  latencyMs: number
}

/** Entered before the call and settled after it, once, however it ends. */
export async function generate(database: Database, meter: Meter, model: ChatModel, request: ChatRequest, origin: CallOrigin): Promise<Generated> {
  const { unsettled, ...generated } = await generateUnsettled(database, meter, model, request, origin)
  await database.write((transaction) => meter.settle(transaction, unsettled.entry, unsettled.call))
  return generated
}

/** The same, but what a call took that went well is left to whoever asked: it can be settled with what comes of it. */
export async function generateUnsettled(
  database: Database,
  meter: Meter,
  model: ChatModel,
  request: ChatRequest,
  origin: CallOrigin,
): Promise<Generated & { unsettled: Settlement }> {
  request.signal?.throwIfAborted()
  await meter.admit(model, origin)
  const estimatedInput = estimateRequest(request)
  const entry = await database.enter((transaction) => meter.begin(transaction, { model, kind: 'chat', origin, estimatedInput }))
  const begun = performance.now()
  const heard: Heard = { text: '', parts: 0, counted: undefined }
  let finishReason: FinishReason = 'other'
  try {
    for await (const part of model.stream(request)) {
      heard.parts++
      if (part.type === 'text') heard.text += part.text
      if (part.type === 'end') [finishReason, heard.counted] = [part.finishReason, part.usage]
    }
  } catch (error) {
    const call = settlement(request, heard, request.signal?.aborted ? 'aborted' : 'failed')
    await database.write((transaction) => meter.settle(transaction, entry, call))
    throw error
  }
  const call = settlement(request, heard, 'done')
  const usage = { inputTokens: call.input_tokens, outputTokens: call.output_tokens, cachedTokens: call.cached_tokens ?? 0 }
  const latencyMs = performance.now() - begun
  return { text: heard.text, model_id: model.id, usage, cost: costOf(model.price, call), finishReason, latencyMs, unsettled: { entry, call } }
}

export interface Heard {
  text: string
  /** How many parts of the reply came. */
  parts: number
  counted: TokenUsage | undefined
}

/** What a call took: as the provider counted it, else by our estimate. Providers do not charge for what they refused before the first part. */
export function settlement(request: ChatRequest, { text, parts, counted }: Heard, status: SettledCall['status']): SettledCall {
  if (counted) return { input_tokens: counted.inputTokens, output_tokens: counted.outputTokens, cached_tokens: counted.cachedTokens, status, estimated: false }
  const refused = status === 'failed' && parts === 0
  return { input_tokens: refused ? 0 : estimateRequest(request), output_tokens: estimateTokens(text), status, estimated: true }
}
