/** The agent loop: calls the model, runs the tools it asks for and calls it again, until it is done or reaches the step limit. */

import { orAborted } from '../../async/abortable.ts'
import type { SettledCall } from '../../core/meter.ts'
import { type FoundPassage, headingsOf, type Tool, type ToolUse } from '../../core/tool.ts'
import type { Logger } from '../../logging/logger.ts'
import { type ChatMessage, type ChatPart, type ChatRequest, type ContextPassage, ToolsUnsupportedError } from '../../models/chat-model.ts'
import { computeSettledCall, estimateRequest } from '../../models/token-estimate.ts'
import type { ActiveReply } from '../reply/active-reply.ts'
import type { FinishReason } from '../reply/message-draft.ts'
import { type ComposedRequest, composeRequest } from './context-window.ts'
import { addToolCall, declineToolCalls, executeToolCalls, type PendingToolCall } from './execute-tool-calls.ts'
import type { TurnContext } from './turn-context.ts'

export const MAX_TOOL_STEPS = 10
/** In characters; longer replies are cut off. */
const MAX_REPLY_LENGTH = 2_000_000
/** Longer messages are truncated when they are used as a search query. */
const MAX_QUERY_LENGTH = 2_000
const MAX_PASSAGES = 10

/** Records the model calls of a reply. */
export interface CallRecorder {
  beginCall(estimatedInput: () => number): Promise<void>
  settleCall(settled: SettledCall): Promise<void>
}

export interface AgentLoopInput {
  context: TurnContext
  /** The first request, if it was composed (and recorded) before the loop starts. */
  firstRequest: ComposedRequest | undefined
  reply: ActiveReply
  recorder: CallRecorder
  logger: Logger
}

export interface AgentLoopResult {
  finishReason: FinishReason
  /** Usage of the last call, which the caller settles. */
  settled: SettledCall
}

interface ModelOutput {
  calls: PendingToolCall[]
  finishReason: FinishReason
  settled: SettledCall
  text: string
}

/** Returns undefined if passages have to be retrieved before the first call (models without tool calling). */
export function composeFirstRequest(scene: TurnContext): ComposedRequest | undefined {
  const lookedUp = !scene.model.canCallTools && scene.toolset.retrievalTools.length > 0
  return lookedUp ? undefined : composeRequest(scene, { steps: [], tools: listOfferedTools(scene), passages: undefined })
}

const listOfferedTools = ({ model, toolset }: TurnContext) => (model.canCallTools ? toolset.definitions : [])

export async function runAgentLoop(stage: AgentLoopInput): Promise<AgentLoopResult> {
  const { context: scene, firstRequest: first, reply, recorder: books, logger } = stage
  const done: ChatMessage[] = []
  let tools = listOfferedTools(scene)
  let passages = scene.model.canCallTools ? undefined : await retrievePassages(scene, reply)
  for (let step = 1; ; step++) {
    const last = step >= MAX_TOOL_STEPS
    const request = (step === 1 && first) || composeRequest(scene, { steps: done, tools, passages })
    await books.beginCall(() => estimateRequest(request))
    const heard = await callModel(stage, { ...request, toolChoice: last ? 'none' : 'auto' }).catch((error: unknown) => {
      if (error instanceof ToolsUnsupportedError && tools.length > 0) return undefined
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
      declineToolCalls(reply, calls, `Not run: the limit of ${MAX_TOOL_STEPS} steps per reply is reached.`)
      return { finishReason: 'steps', settled }
    }
    await books.settleCall(settled)
    done.push({ role: 'assistant', content: text, toolCalls: calls.map(({ request }) => request) })
    done.push(...(await executeToolCalls(scene, reply, calls, logger)))
  }
}

/** Calls the model once: appends its text to the reply and returns its tool calls. */
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
    settled: computeSettledCall(
      request,
      { text: text + calls.map(({ call }) => JSON.stringify(call.arguments)).join(''), parts: 1, usage: end?.usage },
      'done',
    ),
  }
}

/** Text that follows a tool call starts a new paragraph. */
function separateParagraph(before: string, text: string): string {
  return before === '' || /\s$/.test(before) || /^\s/.test(text) ? text : `\n\n${text}`
}

/** Searches all knowledge of the agent, best passages first. Returns undefined for an agent without knowledge. */
async function retrievePassages(
  { toolset, question, toolUse: use }: TurnContext,
  reply: ActiveReply,
): Promise<ContextPassage[] | undefined> {
  const { retrievalTools: knowledge } = toolset
  if (knowledge.length === 0) return undefined
  const found = (await searchWithTools(knowledge, question.trim().slice(0, MAX_QUERY_LENGTH), use, reply.signal))
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_PASSAGES)
  const cited = new Map(found.map((passage) => [reply.draft.citations.add(passage), headingsOf(passage)]))
  reply.emit('retrieval', { citations: [...cited.keys()] })
  return [...cited].map(([{ content, source, page }, headings]) => ({ content, source, page, headings }))
}

/** Ignores tools that fail, unless all of them do. */
async function searchWithTools(tools: readonly Tool[], question: string, use: ToolUse, signal: AbortSignal): Promise<FoundPassage[]> {
  const searches = tools.map(async (tool) => (await tool.retrieve?.(question, use)) ?? [])
  const found = await orAborted(Promise.allSettled(searches), signal)
  const answered = found.filter((search) => search.status === 'fulfilled')
  if (answered.length === 0) throw (found[0] as PromiseRejectedResult).reason
  return answered.flatMap(({ value }) => value)
}
