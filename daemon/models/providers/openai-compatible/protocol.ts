/** Servers that speak OpenAI's chat completions, asked directly: every local model is one of them. */
import type { RemoteModel } from '../../../providers/remote-model.ts'
import { resolveEndpoint } from '../../../providers/endpoints.ts'
import type { ChatMessage, ChatRequest, ToolDefinition } from '../../chat-model.ts'
import { buildSystemPrompt } from '../../system-prompt.ts'
import type { HttpExchange } from '../http-exchange.ts'
import type { ProviderProtocol, ProviderStream } from '../protocol.ts'
import { ChatCompletionsStream } from './stream.ts'

export class ChatCompletionsProtocol implements ProviderProtocol {
  readonly #record: RemoteModel
  readonly #address: URL
  readonly #headers: Readonly<Record<string, string>>
  readonly #countsTokens: boolean

  constructor(record: RemoteModel, countsTokens: boolean) {
    this.#record = record
    this.#address = new URL(resolveEndpoint(record.provider, record.endpoint))
    this.#address.pathname = `${this.#address.pathname.replace(/\/+$/, '')}/chat/completions`
    this.#headers = {
      'content-type': 'application/json',
      ...(record.api_key === null ? {} : { authorization: `Bearer ${record.api_key}` }),
    }
    this.#countsTokens = countsTokens
  }

  async open(request: ChatRequest, exchange: HttpExchange): Promise<ProviderStream> {
    const { type, bytes } = await exchange.post(this.#address, this.#headers, JSON.stringify(this.#body(request)))
    return new ChatCompletionsStream(this.#record, exchange, type?.startsWith('application/json') ? asEvent(bytes) : bytes)
  }

  #body(request: ChatRequest): Record<string, unknown> {
    const { messages, tools = [], toolChoice = 'auto', temperature, maxTokens } = request
    const instructions = buildSystemPrompt(request)
    return {
      model: this.#record.model_id,
      messages: [...(instructions === '' ? [] : [{ role: 'system', content: instructions }]), ...messages.flatMap(written)],
      ...(temperature == null ? {} : { temperature }),
      ...(maxTokens == null ? {} : { max_tokens: maxTokens }),
      ...(tools.length === 0 ? {} : { tools: tools.map(offered), tool_choice: toolChoice }),
      stream: true,
      ...(this.#countsTokens ? { stream_options: { include_usage: true } } : {}),
    }
  }
}

/** Simple servers give the whole answer at once, whatever they were asked for: it is read as a stream of one event. */
async function* asEvent(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const parts: Buffer[] = []
  for await (const part of bytes) parts.push(part)
  yield Buffer.from(
    `data: ${Buffer.concat(parts)
      .toString()
      .replaceAll(/[\r\n]/g, ' ')}\n\n`,
  )
}

const offered = ({ name, description, parameters }: ToolDefinition) => ({ type: 'function', function: { name, description, parameters } })

/** Empty texts are left out or made a space, since servers refuse them. */
function written(message: ChatMessage): object[] {
  switch (message.role) {
    case 'system':
      return [] // among the instructions
    case 'user':
      return [{ role: 'user', content: message.content === '' ? ' ' : message.content }]
    case 'tool':
      return [{ role: 'tool', tool_call_id: message.callId, content: message.content }]
    case 'assistant': {
      const { toolCalls = [] } = message
      const content = message.content.trim() === '' ? null : message.content
      if (toolCalls.length === 0) return content === null ? [] : [{ role: 'assistant', content }]
      const calls = toolCalls.map(({ id, name, arguments: given, seal }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(given) },
        ...seal,
      }))
      return [{ role: 'assistant', content, tool_calls: calls }]
    }
  }
}
