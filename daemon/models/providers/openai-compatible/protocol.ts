/** OpenAI's chat completions protocol, which all local servers support. */

import type { ChatInput, ChatMessage, ResponseFormat, ToolChoice, ToolDefinition } from '../../chat-model.ts'
import { buildSystemPrompt } from '../../system-prompt.ts'
import { markToolResult } from '../../untrusted-text.ts'
import { joinEndpoint, resolveEndpoint } from '../endpoints.ts'
import type { OpenStream } from '../protocol.ts'
import type { RemoteModel } from '../remote-model.ts'
import { ChatCompletionsStream } from './stream.ts'

export function createChatCompletionsProtocol(record: RemoteModel, requestsUsage: boolean): OpenStream {
  const url = joinEndpoint(resolveEndpoint(record.provider, record.endpoint), 'chat/completions')
  const authorization: Record<string, string> = record.api_key === null ? {} : { authorization: `Bearer ${record.api_key}` }
  const headers = { 'content-type': 'application/json', ...authorization }
  return async (request, exchange) => {
    const { type, bytes } = await exchange.post(url, headers, JSON.stringify(buildBody(record.model_id, request, requestsUsage)))
    return new ChatCompletionsStream(exchange, type?.startsWith('application/json') ? toSingleEvent(bytes) : bytes)
  }
}

function buildBody(model: string, request: ChatInput, requestsUsage: boolean): Record<string, unknown> {
  const { messages, tools = [], toolChoice = 'auto', temperature, maxTokens } = request
  const systemPrompt = buildSystemPrompt(request)
  return {
    model,
    messages: [...(systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }]), ...messages.flatMap(formatMessage)],
    ...(temperature == null ? {} : { temperature }),
    ...(maxTokens == null ? {} : { max_tokens: maxTokens }),
    ...(tools.length === 0 ? {} : { tools: tools.map(formatTool), tool_choice: formatToolChoice(toolChoice) }),
    ...formatSettings(request),
    stream: true,
    ...(requestsUsage ? { stream_options: { include_usage: true } } : {}),
  }
}

/** Simple servers ignore `stream` and send the complete response as JSON. */
async function* toSingleEvent(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  const json = Buffer.concat(chunks).toString()
  yield Buffer.from(`data: ${json.replaceAll(/[\r\n]/g, ' ')}\n\n`)
}

/** Undefined settings are left out of the JSON. */
const formatSettings = ({ topP, stop, seed, frequencyPenalty, presencePenalty, responseFormat }: ChatInput) => ({
  top_p: topP,
  stop,
  seed,
  frequency_penalty: frequencyPenalty,
  presence_penalty: presencePenalty,
  response_format: responseFormat && formatResponseFormat(responseFormat),
})

const formatResponseFormat = ({ schema, name = 'response', description, strict }: ResponseFormat) =>
  schema ? { type: 'json_schema', json_schema: { name, description, schema, strict } } : { type: 'json_object' }

const formatToolChoice = (choice: ToolChoice) =>
  typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }

const formatTool = ({ name, description, parameters }: ToolDefinition) => ({
  type: 'function',
  function: { name, description, parameters },
})

/** Omits empty texts or replaces them with a space, because servers reject them. */
function formatMessage(message: ChatMessage): object[] {
  switch (message.role) {
    case 'system':
      return [] // part of the system prompt
    case 'user':
      return [{ role: 'user', content: formatUserContent(message) }]
    case 'tool':
      return [{ role: 'tool', tool_call_id: message.callId, content: markToolResult(message.content) }]
    case 'assistant': {
      const { toolCalls = [] } = message
      const content = message.content.trim() === '' ? null : message.content
      if (toolCalls.length === 0) return content === null ? [] : [{ role: 'assistant', content }]
      const tool_calls = toolCalls.map(({ id, name, arguments: input, seal }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
        ...seal,
      }))
      return [{ role: 'assistant', content, tool_calls }]
    }
  }
}

function formatUserContent({ content, images = [] }: Extract<ChatMessage, { role: 'user' }>): string | object[] {
  if (images.length === 0) return content === '' ? ' ' : content
  const text = content === '' ? [] : [{ type: 'text', text: content }]
  return [...text, ...images.map(({ type, data }) => ({ type: 'image_url', image_url: { url: `data:${type};base64,${data}` } }))]
}
