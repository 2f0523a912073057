/** The loop: the model speaks or asks for tools, tools answer, and the model goes on, until it is done or has asked too often. */

import { orAborted } from '../../async/abortable.ts'
import type { SettledCall } from '../../core/meter.ts'
import { type FoundPassage, headingsOf, type Tool, type ToolUse } from '../../core/tool.ts'
import type { Logger } from '../../logging/logger.ts'
import { type ChatMessage, type ChatPart, type ChatRequest, type GivenPassage, ToolsUnsupported } from '../../models/chat-model.ts'
import { estimateRequest, settlement } from '../../models/token-estimate.ts'
import type { ActiveReply } from '../reply/active-reply.ts'
import type { FinishReason } from '../reply/message-draft.ts'
import { type ComposedRequest, composeRequest } from './context-window.ts'
import { addToolCall, declineToolCalls, executeToolCalls, type PendingToolCall } from './execute-tool-calls.ts'
import type { TurnContext } from './turn-context.ts'

export const MAX_TOOL_STEPS = 10
/** A model that never ends is ended here, in characters. */
const MAX_REPLY_LENGTH = 2_000_000
/** What is looked up of a long message. */
const MAX_QUERY_LENGTH = 2_000
const MAX_PASSAGES = 10

/** Who keeps count of the calls: asked before each, and told of each that others follow. */
export interface CallRecorder {
  beginCall(estimatedInput: () => number): Promise<void>
  settleCall(settled: SettledCall): Promise<void>
}

export interface AgentLoopInput {
  context: TurnContext
  /** What is asked first, where that is known: it was entered so. */
  firstRequest: ComposedRequest | undefined
  reply: ActiveReply
  recorder: CallRecorder
  logger: Logger
}

export interface AgentLoopResult {
  finishReason: FinishReason
  /** Of the last call. */
  settled: SettledCall
}

interface ModelOutput {
  calls: PendingToolCall[]
  finishReason: FinishReason
  settled: SettledCall
  text: string
}

/** What the first call reads, where it is made at once; models that do not call tools have passages looked up for them before. */
export function composeFirstRequest(scene: TurnContext): ComposedRequest | undefined {
  const lookedUp = !scene.model.callsTools && scene.toolset.retrievalTools.length > 0
  return lookedUp ? undefined : composeRequest(scene, { steps: [], tools: listOfferedTools(scene), passages: undefined })
}

const listOfferedTools = ({ model, toolset }: TurnContext) => (model.callsTools ? toolset.definitions : [])

export async function runAgentLoop(stage: AgentLoopInput): Promise<AgentLoopResult> {
  const { context: scene, firstRequest: first, reply, recorder: books, logger } = stage
  const done: ChatMessage[] = []
  let tools = listOfferedTools(scene)
  let passages = scene.model.callsTools ? undefined : await retrievePassages(scene, reply)
  for (let step = 1; ; step++) {
    const last = step >= MAX_TOOL_STEPS
    const request = (step === 1 && first) || composeRequest(scene, { steps: done, tools, passages })
    await books.beginCall(() => estimateRequest(request))
    const heard = await callModel(stage, { ...request, toolChoice: last ? 'none' : 'auto' }).catch((error: unknown) => {
      if (error instanceof ToolsUnsupported && tools.length > 0) return undefined
      throw error
    })
    if (!heard) {
      await books.settleCall({ input_tokens: 0, output_tokens: 0, status: 'failed', estimated: true })
      tools = []
      passages = await retrievePassages(scene, reply)
      continue
    }
    const { calls, finishReason: reason, settled, text } = heard
    if (calls.length === 0) return { finishReason: reason, settled }
    if (last) {
      declineToolCalls(reply, calls, `Not run: ${MAX_TOOL_STEPS} steps were made for this reply.`)
      return { finishReason: 'steps', settled }
    }
    await books.settleCall(settled)
    done.push({ role: 'assistant', content: text, toolCalls: calls.map(({ request }) => request) })
    done.push(...(await executeToolCalls(scene, reply, calls, logger)))
  }
}

/** One call of the model: text as it comes, then what it wants done. */
async function callModel(
  { context: scene, reply }: AgentLoopInput,
  request: ComposedRequest & Pick<ChatRequest, 'toolChoice'>,
): Promise<ModelOutput> {
  const { model, temperature, maxTokens } = scene
  const calls: PendingToolCall[] = []
  const before = reply.draft.content.length
  let end: Extract<ChatPart, { type: 'end' }> | undefined
  reply.signal.throwIfAborted()
  for await (const part of model.stream({ ...request, temperature, maxTokens, signal: reply.signal })) {
    if (part.type === 'text') {
      reply.appendText(reply.draft.content.length === before ? separateParagraph(reply.draft.content, part.text) : part.text)
      const room = reply.events.waitForFollowers()
      if (room) await orAborted(room, reply.signal)
      if (reply.draft.content.length > MAX_REPLY_LENGTH) break
    } else if (part.type === 'tool_call') calls.push(addToolCall(reply, part.call, part.problem))
    else end = part
  }
  reply.signal.throwIfAborted()
  const text = reply.draft.content.slice(before)
  return {
    calls,
    text,
    finishReason: end === undefined ? 'length' : end.finishReason === 'tool_calls' ? 'stop' : end.finishReason,
    settled: settlement(
      request,
      { text: text + calls.map(({ call }) => JSON.stringify(call.arguments)).join(''), parts: 1, counted: end?.usage },
      'done',
    ),
  }
}

/** What is said after tools were used begins a paragraph of its own. */
function separateParagraph(before: string, text: string): string {
  return before === '' || /\s$/.test(before) || /^\s/.test(text) ? text : `\n\n${text}`
}

/** Passages for the question from all the agent's knowledge, the best first. Without any knowledge there is nothing to look up. */
async function retrievePassages({ toolset, question, toolUse: use }: TurnContext, reply: ActiveReply): Promise<GivenPassage[] | undefined> {
  const { retrievalTools: knowledge } = toolset
  if (knowledge.length === 0) return undefined
  const found = (await searchWithTools(knowledge, question.trim().slice(0, MAX_QUERY_LENGTH), use, reply.signal))
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_PASSAGES)
  const cited = new Map(found.map((passage) => [reply.draft.citations.add(passage), headingsOf(passage)]))
  reply.emit('retrieval', { citations: [...cited.keys()] })
  return [...cited].map(([{ content, source, page }, headings]) => ({ content, source, page, headings }))
}

/** One that fails leaves it to the others; if all fail, so does the reply. */
async function searchWithTools(tools: readonly Tool[], question: string, use: ToolUse, signal: AbortSignal): Promise<FoundPassage[]> {
  const searches = tools.map(async (tool) => (await tool.retrieve?.(question, use)) ?? [])
  const found = await orAborted(Promise.allSettled(searches), signal)
  const answered = found.filter((search) => search.status === 'fulfilled')
  if (answered.length === 0) throw (found[0] as PromiseRejectedResult).reason
  return answered.flatMap(({ value }) => value)
}
