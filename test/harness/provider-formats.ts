/** Formats scripted replies as event streams of OpenAI, Anthropic and Google. */

export type ProviderFormat = 'openai' | 'anthropic' | 'google'

export interface ScriptedToolCall {
  id?: string
  name: string
  /** A string is sent unchanged, so that tests can send invalid JSON. */
  arguments: Record<string, unknown> | string
}

export interface ScriptedReply {
  /** One event for each text. */
  text?: readonly string[]
  /** Reasoning before the text, one event for each; not for Google. */
  reasoning?: readonly string[]
  calls?: readonly ScriptedToolCall[]
  /** Null for a provider that does not report usage. */
  usage?: { input: number; output: number; cached?: number } | null
  /** The provider's finish reason; null for a stream without one. */
  finish?: string | null
}

const USAGE = { input: 12, output: 5 }

/** Returns the events, each with its empty line. */
export function formatEvents(format: ProviderFormat, reply: ScriptedReply): string[] {
  return format === 'openai' ? formatOpenai(reply) : format === 'anthropic' ? formatAnthropic(reply) : formatGoogle(reply)
}

const formatData = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const formatArguments = ({ arguments: given }: ScriptedToolCall) => (typeof given === 'string' ? given : JSON.stringify(given))

function formatOpenai({
  reasoning = [],
  text = [],
  calls = [],
  usage = USAGE,
  finish = calls.length > 0 ? 'tool_calls' : 'stop',
}: ScriptedReply): string[] {
  const chunk = (choices: unknown[], more: object = {}) =>
    formatData({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'scripted', choices, ...more })
  const delta = (part: object) => chunk([{ index: 0, delta: part, finish_reason: null }])
  const events = [
    delta({ role: 'assistant', content: '' }),
    ...reasoning.map((reasoning_content) => delta({ reasoning_content })),
    ...text.map((content) => delta({ content })),
  ]
  for (const [index, call] of calls.entries()) {
    const { id = `call_${index + 1}`, name } = call
    const all = formatArguments(call)
    const half = Math.ceil(all.length / 2)
    events.push(delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }))
    for (const piece of [all.slice(0, half), all.slice(half)])
      if (piece !== '') events.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }))
  }
  if (finish === null) return events
  events.push(chunk([{ index: 0, delta: {}, finish_reason: finish }]))
  if (usage)
    events.push(
      chunk([], {
        usage: {
          prompt_tokens: usage.input,
          completion_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
        },
      }),
    )
  return [...events, 'data: [DONE]\n\n']
}

function formatAnthropic({
  reasoning = [],
  text = [],
  calls = [],
  usage = USAGE,
  finish = calls.length > 0 ? 'tool_use' : 'end_turn',
}: ScriptedReply): string[] {
  const event = (value: { type: string } & Record<string, unknown>) => `event: ${value.type}\n${formatData(value)}`
  const { input, output, cached = 0 } = usage ?? { input: 0, output: 0 }
  const counted = { input_tokens: input - cached, cache_creation_input_tokens: 0, cache_read_input_tokens: cached, output_tokens: 1 }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: counted,
  }
  const events = [event({ type: 'message_start', message }), event({ type: 'ping' })]
  let index = 0
  if (reasoning.length > 0) {
    events.push(event({ type: 'content_block_start', index, content_block: { type: 'thinking', thinking: '' } }))
    for (const thinking of reasoning)
      events.push(event({ type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } }))
    events.push(event({ type: 'content_block_stop', index }))
    index++
  }
  if (text.length > 0) {
    events.push(event({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }))
    for (const piece of text) events.push(event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: piece } }))
    events.push(event({ type: 'content_block_stop', index }))
    index++
  }
  for (const call of calls) {
    const { id = `toolu_${index}`, name } = call
    events.push(event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } }))
    events.push(event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: formatArguments(call) } }))
    events.push(event({ type: 'content_block_stop', index }))
    index++
  }
  if (finish === null) return events
  events.push(event({ type: 'message_delta', delta: { stop_reason: finish, stop_sequence: null }, usage: { output_tokens: output } }))
  return [...events, event({ type: 'message_stop' })]
}

function formatGoogle({ text = [], calls = [], usage = USAGE, finish = 'STOP' }: ScriptedReply): string[] {
  const counted = usage && {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
    cachedContentTokenCount: usage.cached ?? 0,
  }
  const chunk = (parts: unknown[], more: object = {}, metadata: object = {}) =>
    formatData({
      candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
      modelVersion: 'scripted',
      responseId: 'r1',
      ...metadata,
    })
  const events = text.map((piece) => chunk([{ text: piece }]))
  if (calls.length > 0)
    events.push(chunk(calls.map(({ name, arguments: args }) => ({ functionCall: { name, args }, thoughtSignature: 'c2lnbmVk' }))))
  return finish === null ? events : [...events, chunk([{ text: '' }], { finishReason: finish }, counted ? { usageMetadata: counted } : {})]
}
