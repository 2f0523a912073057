/** The loop: the model speaks or asks for tools, tools answer, and the model goes on, until it is done or has asked too often. */

import { orAborted } from '../../async/abortable.ts'
import type { SettledCall } from '../../core/meter.ts'
import { type FoundPassage, headingsOf, type Tool, type ToolUse } from '../../core/tool.ts'
import type { Logger } from '../../logging/logger.ts'
import { type ChatMessage, type ChatPart, type ChatRequest, type GivenPassage, ToolsUnsupported } from '../../models/chat-model.ts'
import { estimateRequest, settlement } from '../../models/token-estimate.ts'
import type { Reply } from '../reply/active-reply.ts'
import type { FinishReason } from '../reply/message-draft.ts'
import { type Composed, compose } from './context-window.ts'
import { declined, noted, type Requested, runCalls } from './execute-tool-calls.ts'
import type { Scene } from './turn-context.ts'

export const MOST_STEPS = 10
/** A model that never ends is ended here, in characters. */
const MOST_TEXT = 2_000_000
/** What is looked up of a long message. */
const LONGEST_QUESTION = 2_000
const MOST_PASSAGES = 10

/** Who keeps count of the calls: asked before each, and told of each that others follow. */
export interface Bookkeeping {
  next(estimatedInput: () => number): Promise<void>
  step(settled: SettledCall): Promise<void>
}

export interface Stage {
  scene: Scene
  /** What is asked first, where that is known: it was entered so. */
  first: Composed | undefined
  reply: Reply
  books: Bookkeeping
  logger: Logger
}

export interface Ending {
  reason: FinishReason
  /** Of the last call. */
  settled: SettledCall
}

interface Heard {
  calls: Requested[]
  reason: FinishReason
  settled: SettledCall
  text: string
}

/** What the first call reads, where it is made at once; models that do not call tools have passages looked up for them before. */
export function firstRequest(scene: Scene): Composed | undefined {
  const lookedUp = !scene.model.callsTools && scene.toolset.knowledge.length > 0
  return lookedUp ? undefined : compose(scene, { done: [], tools: offeredTo(scene), passages: undefined })
}

const offeredTo = ({ model, toolset }: Scene) => (model.callsTools ? toolset.offered : [])

export async function converse(stage: Stage): Promise<Ending> {
  const { scene, first, reply, books, logger } = stage
  const done: ChatMessage[] = []
  let tools = offeredTo(scene)
  let passages = scene.model.callsTools ? undefined : await lookUp(scene, reply)
  for (let step = 1; ; step++) {
    const last = step >= MOST_STEPS
    const request = (step === 1 && first) || compose(scene, { done, tools, passages })
    await books.next(() => estimateRequest(request))
    const heard = await listen(stage, { ...request, toolChoice: last ? 'none' : 'auto' }).catch((error: unknown) => {
      if (error instanceof ToolsUnsupported && tools.length > 0) return undefined
      throw error
    })
    if (!heard) {
      await books.step({ input_tokens: 0, output_tokens: 0, status: 'failed', estimated: true })
      tools = []
      passages = await lookUp(scene, reply)
      continue
    }
    const { calls, reason, settled, text } = heard
    if (calls.length === 0) return { reason, settled }
    if (last) {
      declined(reply, calls, `Not run: ${MOST_STEPS} steps were made for this reply.`)
      return { reason: 'steps', settled }
    }
    await books.step(settled)
    done.push({ role: 'assistant', content: text, toolCalls: calls.map(({ request }) => request) })
    done.push(...(await runCalls(scene, reply, calls, logger)))
  }
}

/** One call of the model: text as it comes, then what it wants done. */
async function listen({ scene, reply }: Stage, request: Composed & Pick<ChatRequest, 'toolChoice'>): Promise<Heard> {
  const { model, temperature, maxTokens } = scene
  const calls: Requested[] = []
  const before = reply.draft.content.length
  let end: Extract<ChatPart, { type: 'end' }> | undefined
  reply.signal.throwIfAborted()
  for await (const part of model.stream({ ...request, temperature, maxTokens, signal: reply.signal })) {
    if (part.type === 'text') {
      reply.write(reply.draft.content.length === before ? separated(reply.draft.content, part.text) : part.text)
      const room = reply.log.room()
      if (room) await orAborted(room, reply.signal)
      if (reply.draft.content.length > MOST_TEXT) break
    } else if (part.type === 'tool_call') calls.push(noted(reply, part.call, part.problem))
    else end = part
  }
  reply.signal.throwIfAborted()
  const text = reply.draft.content.slice(before)
  return {
    calls,
    text,
    reason: end === undefined ? 'length' : end.finishReason === 'tool_calls' ? 'stop' : end.finishReason,
    settled: settlement(
      request,
      { text: text + calls.map(({ call }) => JSON.stringify(call.arguments)).join(''), parts: 1, counted: end?.usage },
      'done',
    ),
  }
}

/** What is said after tools were used begins a paragraph of its own. */
function separated(before: string, text: string): string {
  return before === '' || /\s$/.test(before) || /^\s/.test(text) ? text : `\n\n${text}`
}

/** Passages for the question from all the agent's knowledge, the best first. Without any knowledge there is nothing to look up. */
async function lookUp({ toolset, question, use }: Scene, reply: Reply): Promise<GivenPassage[] | undefined> {
  const { knowledge } = toolset
  if (knowledge.length === 0) return undefined
  const found = (await passagesOf(knowledge, question.trim().slice(0, LONGEST_QUESTION), use, reply.signal))
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_PASSAGES)
  const cited = new Map(found.map((passage) => [reply.draft.citations.add(passage), headingsOf(passage)]))
  reply.say('retrieval', { citations: [...cited.keys()] })
  return [...cited].map(([{ content, source, page }, headings]) => ({ content, source, page, headings }))
}

/** One that fails leaves it to the others; if all fail, so does the reply. */
async function passagesOf(tools: readonly Tool[], question: string, use: ToolUse, signal: AbortSignal): Promise<FoundPassage[]> {
  const searches = tools.map(async (tool) => (await tool.retrieve?.(question, use)) ?? [])
  const found = await orAborted(Promise.allSettled(searches), signal)
  const answered = found.filter((search) => search.status === 'fulfilled')
  if (answered.length === 0) throw (found[0] as PromiseRejectedResult).reason
  return answered.flatMap(({ value }) => value)
}
