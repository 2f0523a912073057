/** OpenAI's chat completions protocol, which all local servers support. */
import { joinEndpoint, resolveEndpoint } from '../../../providers/endpoints.ts'
import type { RemoteModel } from '../../../providers/remote-model.ts'
import type { ChatMessage, ChatRequest, ToolDefinition } from '../../chat-model.ts'
import { buildSystemPrompt } from '../../system-prompt.ts'
import type { HttpExchange } from '../http-exchange.ts'
import type { ProviderProtocol, ProviderStream } from '../protocol.ts'
import { ChatCompletionsStream } from './stream.ts'

export class ChatCompletionsProtocol implements ProviderProtocol {
  readonly #record: RemoteModel
  readonly #url: URL
  readonly #headers: Readonly<Record<string, string>>
  readonly #requestsUsage: boolean

  constructor(record: RemoteModel, requestsUsage: boolean) {
    this.#record = record
    this.#url = joinEndpoint(resolveEndpoint(record.provider, record.endpoint), 'chat/completions')
    this.#headers = {
      'content-type': 'application/json',
      ...(record.api_key === null ? {} : { authorization: `Bearer ${record.api_key}` }),
    }
    this.#requestsUsage = requestsUsage
  }

  async open(request: ChatRequest, exchange: HttpExchange): Promise<ProviderStream> {
    const { type, bytes } = await exchange.post(this.#url, this.#headers, JSON.stringify(this.#buildBody(request)))
    return new ChatCompletionsStream(this.#record, exchange, type?.startsWith('application/json') ? toSingleEvent(bytes) : bytes)
  }

  #buildBody(request: ChatRequest): Record<string, unknown> {
    const { messages, tools = [], toolChoice = 'auto', temperature, maxTokens } = request
    const systemPrompt = buildSystemPrompt(request)
    return {
      model: this.#record.model_id,
      messages: [...(systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }]), ...messages.flatMap(formatMessage)],
      ...(temperature == null ? {} : { temperature }),
      ...(maxTokens == null ? {} : { max_tokens: maxTokens }),
      ...(tools.length === 0 ? {} : { tools: tools.map(formatTool), tool_choice: toolChoice }),
      stream: true,
      ...(this.#requestsUsage ? { stream_options: { include_usage: true } } : {}),
    }
  }
}

/** Simple servers ignore `stream` and send the complete response as JSON. */
async function* toSingleEvent(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  const json = Buffer.concat(chunks).toString()
  yield Buffer.from(`data: ${json.replaceAll(/[\r\n]/g, ' ')}\n\n`)
}

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
      return [{ role: 'user', content: message.content === '' ? ' ' : message.content }]
    case 'tool':
      return [{ role: 'tool', tool_call_id: message.callId, content: message.content }]
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
