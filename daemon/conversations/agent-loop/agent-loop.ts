/** The agent loop: calls the model and runs its tool calls, until the reply is complete or the step limit is reached. */
import { createValidationError } from '../../../src/contract/errors.ts'
import { raceAbort } from '../../async/abortable.ts'
import { findOwner, getPriority } from '../../core/find-owner.ts'
import type { CallUsage } from '../../core/meter.ts'
import { type DocumentCount, type RetrievedPassage, type Tool, type ToolContext, toContextPassage } from '../../core/tool.ts'
import {
  type ChatInput,
  type ChatMessage,
  type ChatPart,
  type ContextPassage,
  type ToolChoice,
  type ToolDefinition,
  ToolsUnsupportedError,
} from '../../models/chat-model.ts'
import { resolveLastQuestion } from '../../models/resolve-follow-up.ts'
import { computeCallUsage, estimateInput } from '../../models/token-estimate.ts'
import type { Compute, ComputedAnswer } from '../../tables/computation.ts'
import type { ActiveReply } from '../reply/active-reply.ts'
import type { FinishReason } from '../reply/message-draft.ts'
import { type ComposedInput, composeInput } from './compose-input.ts'
import { addToolCall, declineToolCalls, executeToolCalls, mentionOmittedCalls, type PendingToolCall } from './execute-tool-calls.ts'
import { recordComputations } from './record-computations.ts'
import { describeRequest, isHistoryTooLong, needsPassages, summarizeHistory } from './summarize-history.ts'
import { type AgentLoopInput, listOfferedTools, type TurnContext } from './turn-context.ts'

const MAX_TOOL_STEPS = 10
/** A model that requests more at once is usually stuck in a loop. Further calls are not run, and the model is told. */
const MAX_CALLS_PER_STEP = 64
/** In characters; longer replies are cut off. */
const MAX_REPLY_LENGTH = 2_000_000
/** Longer messages are truncated when they are used as a search query. */
const MAX_QUERY_LENGTH = 2_000
const MAX_PASSAGES = 10

interface AgentLoopResult {
  finishReason: FinishReason
  /** Usage of the last call, which the caller settles. */
  settled: CallUsage
}

interface ModelOutput extends AgentLoopResult {
  calls: PendingToolCall[]
  /** Calls beyond the limit, which are not run. */
  omittedCalls: number
  text: string
}

/** Returns undefined if passages (for models without tool calling) or a summary are needed before the first call. */
export function composeFirstInput(context: TurnContext): ComposedInput | undefined {
  return needsPassages(context) || isHistoryTooLong(context)
    ? undefined
    : composeInput(context, { steps: [], tools: listOfferedTools(context), passages: undefined })
}

/** A client that requires a call of its tools gets one in the last step, after the agent's tools have run. */
function chooseTools(
  { toolset, clientTools, toolChoice }: TurnContext,
  tools: readonly ToolDefinition[],
  isLastStep: boolean,
): { tools: readonly ToolDefinition[]; toolChoice: ToolChoice } {
  if (toolChoice === 'none') return { tools, toolChoice: isLastStep || toolset.names.length === 0 ? 'none' : 'auto' }
  if (toolChoice === 'auto' || tools.length === 0) return { tools, toolChoice: isLastStep ? 'none' : 'auto' }
  return { tools: isLastStep ? clientTools : tools, toolChoice }
}

export function runAgentLoop(input: AgentLoopInput): Promise<AgentLoopResult> {
  const { telemetry, reply, context } = input
  const { agent_id, conversation_id } = context.toolUse.origin
  const attributes = { 'gen_ai.agent.id': agent_id, 'gen_ai.conversation.id': conversation_id, 'cadre.model.id': context.model.id }
  const getOutcome = ({ finishReason }: AgentLoopResult) => finishReason
  return telemetry.measure('reply', { attributes, signal: reply.signal, getOutcome }, () => runSteps(input))
}

async function runSteps(start: AgentLoopInput): Promise<AgentLoopResult> {
  const { firstRequest, reply, recorder } = start
  const context = await summarizeHistory(start)
  const input = { ...start, context }
  const steps: ChatMessage[] = []
  let tools = listOfferedTools(context)
  let passages = context.model.canCallTools ? undefined : await retrievePassages(context, reply)
  for (let step = 1; ; step++) {
    const isLastStep = step >= MAX_TOOL_STEPS
    const selection = chooseTools(context, tools, isLastStep)
    const request = (step === 1 && firstRequest) || composeInput(context, { steps, tools: selection.tools, passages })
    reply.draft.addHistory(describeRequest(context, request))
    await recorder.beginCall(() => estimateInput(request))
    const output = await callModel(input, { ...request, toolChoice: selection.toolChoice }).catch((error: unknown) => {
      if (!(error instanceof ToolsUnsupportedError) || tools.length === 0) throw error
      if (context.clientTools.length > 0) throw createToolsUnsupportedError(context)
      return undefined
    })
    if (!output) {
      await recorder.settleCall({ input_tokens: 0, output_tokens: 0, status: 'failed', estimated: true })
      tools = []
      passages = await retrievePassages(context, reply)
      continue
    }
    const { calls, omittedCalls, finishReason, settled, text } = output
    if (calls.length === 0) return { finishReason, settled }
    const agentCalls = calls.filter((call) => !isClientCall(context, call))
    if (agentCalls.length < calls.length) {
      declineToolCalls(reply, agentCalls, 'Not run: the reply ends with calls of tools that the client executes.')
      return { finishReason: 'tool_calls', settled }
    }
    if (isLastStep) {
      declineToolCalls(reply, calls, `Not run: the limit of ${MAX_TOOL_STEPS} steps per reply is reached.`)
      return { finishReason: 'steps', settled }
    }
    await recorder.settleCall(settled)
    steps.push({ role: 'assistant', content: text, toolCalls: calls.map(({ request }) => request) })
    steps.push(...mentionOmittedCalls(await executeToolCalls(input, calls), omittedCalls))
  }
}

/** Calls with invalid arguments are answered here, so that the model can correct them. */
const isClientCall = ({ clientTools }: TurnContext, { call, problem }: PendingToolCall): boolean =>
  problem === undefined && clientTools.some(({ name }) => name === call.name)

export const createToolsUnsupportedError = ({ model }: Pick<TurnContext, 'model'>) =>
  createValidationError('tools', `the model "${model.name}" cannot call tools`, 'Omit tools, or use another model.')

/** Calls the model once: appends its text to the reply and returns its tool calls. */
async function callModel({ context, reply }: AgentLoopInput, request: ComposedInput & Pick<ChatInput, 'toolChoice'>): Promise<ModelOutput> {
  const { model, temperature, maxTokens, sampling } = context
  const calls: PendingToolCall[] = []
  let omittedCalls = 0
  /** For the estimate, if the provider does not report usage. */
  let writtenArguments = ''
  const offset = reply.draft.content.length
  let end: Extract<ChatPart, { type: 'end' }> | undefined
  reply.signal.throwIfAborted()
  const countDocuments = () => countSearchedDocuments(context.toolset.retrievalTools)
  for await (const part of model.stream({
    ...request,
    ...sampling,
    countDocuments,
    compute: async (...question) => {
      const computed = await computeWithTools(context.toolset.retrievalTools, question)
      return { ...computed, computations: recordComputations(reply, computed.computations) }
    },
    listNeighbours: async (index) => context.toolset.retrievalTools[0]?.listNeighbours?.(reply.draft.citations.get(index + 1) ?? {}),
    temperature,
    maxTokens,
    owner: findOwner(context.toolUse),
    priority: getPriority(context.toolUse),
    signal: reply.signal,
  })) {
    if (part.type === 'text') {
      const { length } = reply.draft.content
      const text = length === offset ? separateParagraph(reply.draft.content, part.text) : part.text
      reply.appendText(text.slice(0, MAX_REPLY_LENGTH - length))
      const backpressure = reply.events.waitForFollowers()
      if (backpressure) await raceAbort(backpressure, reply.signal)
      if (length + text.length > MAX_REPLY_LENGTH) break
    } else if (part.type === 'reasoning') {
      reply.appendReasoning(part.text)
      const backpressure = reply.events.waitForFollowers()
      if (backpressure) await raceAbort(backpressure, reply.signal)
    } else if (part.type === 'tool_call') {
      writtenArguments += JSON.stringify(part.call.arguments)
      if (calls.length < MAX_CALLS_PER_STEP) calls.push(addToolCall(reply, part.call, part.problem))
      else omittedCalls++
    } else end = part
  }
  reply.signal.throwIfAborted()
  reply.draft.confidence = end?.confidence
  const text = reply.draft.content.slice(offset)
  return {
    calls,
    omittedCalls,
    text,
    finishReason: end === undefined ? 'length' : end.finishReason === 'tool_calls' ? 'stop' : end.finishReason,
    settled: computeCallUsage(request, { text: text + writtenArguments, parts: 1, usage: end?.usage }, 'done'),
  }
}

/** Text that follows a tool call starts a new paragraph. */
function separateParagraph(before: string, text: string): string {
  return before === '' || /\s$/.test(before) || /^\s/.test(text) ? text : `\n\n${text}`
}

/** Searches all knowledge of the agent, best passages first. Returns undefined for an agent without knowledge. */
async function retrievePassages(
  { toolset: { retrievalTools }, history, question, toolUse }: TurnContext,
  reply: ActiveReply,
): Promise<ContextPassage[] | undefined> {
  if (retrievalTools.length === 0) return undefined
  const query = resolveLastQuestion([...history.flat(), { role: 'user', content: question }])
  const passages = (await searchWithTools(retrievalTools, query.trim().slice(0, MAX_QUERY_LENGTH), toolUse, reply.signal))
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_PASSAGES)
  const citations = new Map(passages.map((passage) => [reply.draft.citations.add(passage), passage]))
  reply.emit('retrieval', { citations: [...citations.keys()] })
  return [...citations.values()].map(toContextPassage)
}

/** Returns the first result that a tool computes; if none does, why. */
async function computeWithTools(tools: readonly Tool[], question: Parameters<Compute>): Promise<ComputedAnswer> {
  let failed: ComputedAnswer = { computations: [] }
  for (const tool of tools) {
    const computed = await tool.compute?.(...question)
    if (computed && computed.computations.length > 0) return computed
    if (computed && failed.problem === undefined && (computed.problem ?? computed.notice) !== undefined) failed = computed
  }
  return failed
}

/** Tools may search the same sources. */
async function countSearchedDocuments(tools: readonly Tool[]): Promise<DocumentCount> {
  const counts = await Promise.all(tools.map((tool) => tool.countDocuments?.()))
  const bySource = new Map(counts.flatMap((count) => [...(count ?? [])]))
  return [...bySource.values()].reduce(
    (sum, { documents, recognizing, skipped }) => ({
      documents: sum.documents + documents,
      recognizing: sum.recognizing + recognizing,
      skipped: sum.skipped + skipped,
    }),
    { documents: 0, recognizing: 0, skipped: 0 },
  )
}

/** Ignores tools that fail, unless all of them do. */
async function searchWithTools(
  tools: readonly Tool[],
  question: string,
  toolUse: ToolContext,
  signal: AbortSignal,
): Promise<RetrievedPassage[]> {
  const searches = tools.map(async (tool) => (await tool.retrieve?.(question, toolUse)) ?? [])
  const results = await raceAbort(Promise.allSettled(searches), signal)
  const succeeded = results.filter((search) => search.status === 'fulfilled')
  if (succeeded.length === 0) throw (results[0] as PromiseRejectedResult).reason
  return succeeded.flatMap(({ value }) => value)
}
