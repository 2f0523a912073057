/** Executes the tool calls of a model concurrently, after confirmation where required, and formats their results for the model. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { Citation } from '../../../src/contract/schemas/messages.ts'
import { raceAbort } from '../../async/abortable.ts'
import { formatDescriptions, type Tool, type ToolOutcome } from '../../core/tool.ts'
import type { ChatMessage, ToolCall } from '../../models/chat-model.ts'
import type { ActiveReply } from '../reply/active-reply.ts'
import { formatPassages } from '../reply/citations.ts'
import type { StoredToolCall } from '../reply/message-draft.ts'
import { hasPastedText, isToolOfOthers } from '../reply/untrusted-messages.ts'
import { formatValue, truncate } from './compose-input.ts'
import type { AgentLoopInput, TurnContext } from './turn-context.ts'

const MAX_CONCURRENT_CALLS = 8
/** Characters of a result that are stored; the model gets as much as fits its context window. */
const MAX_STORED_RESULT_LENGTH = 10_000
const MAX_RESULT_LENGTH = 200_000

const UNTRUSTED_TEXT = 'A document or other text that the agent has read may have asked for this.'

const TOOL_KINDS: Record<string, string> = { rag: 'rag', ret: 'retrieval', api: 'api', mcpt: 'mcp' }

type ToolCallsInput = Pick<AgentLoopInput, 'context' | 'reply' | 'logger' | 'telemetry'>

export interface PendingToolCall {
  request: ToolCall
  /** The call as stored with the reply. */
  call: StoredToolCall
  /** Why its arguments could not be parsed. */
  problem: string | undefined
}

export function addToolCall(reply: ActiveReply, requested: ToolCall, problem: string | undefined): PendingToolCall {
  const call = reply.draft.addToolCall(requested)
  const { id, name, arguments: args } = call
  reply.emit('tool_call', { id, name, arguments: args })
  return { request: { ...requested, id }, call, problem }
}

/** Tells the model, in the last result, that it requested more calls than were run. */
export function mentionOmittedCalls(results: ChatMessage[], omittedCalls: number): ChatMessage[] {
  const last = results.at(-1)
  if (omittedCalls === 0 || last?.role !== 'tool') return results
  const requested = results.length + omittedCalls
  const note = `Only the first ${results.length} of ${requested} tool calls were run. Request the others again if needed.`
  return [...results.slice(0, -1), { ...last, content: `${last.content}\n\n${note}` }]
}

/** Returns one tool message per call, in the order of the calls. */
export async function executeToolCalls(input: ToolCallsInput, calls: readonly PendingToolCall[]): Promise<ChatMessage[]> {
  const messages: ChatMessage[] = []
  const queue = [...calls.entries()]
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) messages[next[0]] = await executeToolCall(input, next[1])
  }
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_CALLS, calls.length) }, worker))
  return messages
}

/** Reports calls that are not executed. */
export function declineToolCalls(reply: ActiveReply, calls: readonly PendingToolCall[], message: string): void {
  for (const { call } of calls) reportFailure(reply, call, message)
}

async function executeToolCall(
  { context, reply, logger, telemetry }: ToolCallsInput,
  { call, problem }: PendingToolCall,
): Promise<ChatMessage> {
  const { id: callId, name } = call
  const requested = call.arguments
  let startedAt = performance.now()
  try {
    const tool = findTool(context, call, problem)
    tool.check?.(call.arguments)
    const hasUntrustedText = hasReadUntrustedText(context, reply)
    if (tool.requiresConfirmation || (tool.confirmsUntrustedText && hasUntrustedText)) await requireConfirmation(reply, tool, call)
    // The time that the user takes to decide is not part of the call.
    startedAt = performance.now()
    const outcome = await telemetry.measure('tool_call', describeCall(tool, reply.signal), () =>
      raceAbort(tool.run(call.arguments, { ...context.toolUse, hasUntrustedText }), reply.signal),
    )
    call.latency_ms = Math.round(performance.now() - startedAt)
    const { content, result, citations } = formatOutcome(reply, outcome)
    call.result = result
    reply.emit('tool_result', { ...formatResult(call, requested), citations })
    return { role: 'tool', callId, name, content: mentionChange(call, requested) + content, failed: false }
  } catch (error) {
    reply.signal.throwIfAborted()
    if (!(error instanceof CadreError)) logger.error({ err: error, tool: name, message_id: reply.messageId }, 'a tool failed unexpectedly')
    const message = error instanceof CadreError ? error.message : 'The tool failed because of an internal error.'
    call.latency_ms = call.confirmation === 'refused' ? 0 : Math.round(performance.now() - startedAt)
    reportFailure(reply, call, message, requested)
    return { role: 'tool', callId, name, content: mentionChange(call, requested) + message, failed: true }
  }
}

/** Other calls of the same step count too: they may have returned before. */
function hasReadUntrustedText(
  { hasUntrustedHistory, past, question, images = [], continuation = [] }: TurnContext,
  { draft }: ActiveReply,
): boolean {
  return (
    hasUntrustedHistory ||
    (past?.summary?.has_untrusted_text ?? false) ||
    hasPastedText(question) ||
    images.length > 0 ||
    continuation.length > 0 ||
    draft.toolCalls.some(isToolOfOthers) ||
    draft.citations.listFor('').length > 0
  )
}

/** The prefix of an id is that of the family. */
const describeCall = ({ id, name }: Tool, signal: AbortSignal) => ({
  labels: [TOOL_KINDS[id.slice(0, id.indexOf('_'))] ?? 'other'],
  spanName: `execute_tool ${name}`,
  attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name, 'cadre.tool.id': id },
  signal,
})

/** The model receives the messages of these errors: with other words, recordings of conversations with such calls no longer match. */
function findTool(context: TurnContext, call: StoredToolCall, problem: string | undefined): Tool {
  const tool = context.toolset.find(call.name)
  const isKnown = tool !== undefined || context.clientTools.some(({ name }) => name === call.name)
  if (isKnown && problem !== undefined) throw new CadreError('VALIDATION_ERROR', `The arguments could not be read: ${problem}`)
  if (!tool)
    throw new CadreError(
      'NOT_FOUND',
      `There is no tool "${call.name.slice(0, 100)}". The tools are: ${context.toolset.names.join(', ') || 'none'}.`,
    )
  return tool
}

async function requireConfirmation(reply: ActiveReply, tool: Tool, call: StoredToolCall): Promise<void> {
  // Without an id, no client can offer to allow all further calls.
  const answer = await reply.confirmations.request(
    call,
    tool.confirmsUntrustedText ? { reason: UNTRUSTED_TEXT } : { tool_id: tool.id },
    (args) => tool.describeRequest?.(args) ?? {},
  )
  if (answer === 'refused') throw new CadreError('FORBIDDEN', 'The user did not allow this call. Go on without it.')
  if (answer === 'unattended')
    throw new CadreError(
      'FORBIDDEN',
      'This call requires confirmation by a user, and no user is present. It was not run; go on without it.',
    )
  if (answer === 'unanswered') throw new CadreError('FORBIDDEN', 'Nobody allowed this call in time. Go on without it.')
}

/** Tells the model that the arguments were changed. */
const mentionChange = ({ arguments: used }: StoredToolCall, requested: StoredToolCall['arguments']): string =>
  used === requested ? '' : `The user changed the arguments of this call to ${JSON.stringify(used)}.\n\n`

function formatOutcome(reply: ActiveReply, outcome: ToolOutcome): { content: string; result: unknown; citations?: Citation[] } {
  if (outcome.kind === 'passages') {
    const citations = outcome.passages.map((passage) => reply.draft.citations.add(passage))
    const content = formatPassages(citations, formatDescriptions(outcome.passages))
    return { content, result: { citations: citations.map(({ index }) => index) }, citations }
  }
  const content = formatValue(outcome.value)
  const citations = (outcome.origin ?? []).map((passage) => reply.draft.citations.add(passage))
  const markers = citations.map(({ index, source }) => `[${index}] for ${source}`)
  return {
    content: (markers.length === 0 ? '' : `Cite this result as ${markers.join(', ')}.\n\n`) + truncate(content, MAX_RESULT_LENGTH),
    result: content.length <= MAX_STORED_RESULT_LENGTH ? outcome.value : truncate(content, MAX_STORED_RESULT_LENGTH),
    ...(citations.length === 0 ? {} : { citations }),
  }
}

function reportFailure(reply: ActiveReply, call: StoredToolCall, message: string, requested = call.arguments): void {
  call.error = message
  reply.emit('tool_result', formatResult(call, requested))
}

/** The event of the call contained its arguments, unless the user changed them. */
const formatResult = ({ arguments: used, ...rest }: StoredToolCall, requested: StoredToolCall['arguments']) =>
  used === requested ? rest : { ...rest, arguments: used }
