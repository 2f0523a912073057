/** Converts a chat request to the call options of the AI SDK. */
import type { ChatInput, ChatMessage, ResponseFormat, ToolChoice, ToolDefinition } from '../../chat-model.ts'
import { buildSystemPrompt } from '../../system-prompt.ts'
import { markToolResult } from '../../untrusted-text.ts'
import type { CallOptions } from './load-language-model.ts'

type Prompt = CallOptions['prompt']
type Message = Prompt[number]
type UserContent = Extract<Message, { role: 'user' }>['content']
type AssistantContent = Extract<Message, { role: 'assistant' }>['content']
type ToolContent = Extract<Message, { role: 'tool' }>['content']
type Schema = Extract<NonNullable<CallOptions['tools']>[number], { type: 'function' }>['inputSchema']

export function buildCallOptions(request: ChatInput): CallOptions {
  const { messages, tools = [], toolChoice = 'auto', temperature, maxTokens } = request
  const systemPrompt = buildSystemPrompt(request)
  const prompt: Prompt = systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }]
  for (const message of messages) appendMessage(prompt, message)
  return {
    prompt,
    ...(temperature == null ? {} : { temperature }),
    ...(maxTokens == null ? {} : { maxOutputTokens: maxTokens }),
    ...(tools.length === 0 ? {} : { tools: tools.map(convertTool), toolChoice: convertToolChoice(toolChoice) }),
    ...convertSettings(request),
  }
}

function convertSettings({ topP, stop, seed, frequencyPenalty, presencePenalty, responseFormat }: ChatInput): Partial<CallOptions> {
  return {
    ...(topP === undefined ? {} : { topP }),
    ...(stop === undefined ? {} : { stopSequences: [...stop] }),
    ...(seed === undefined ? {} : { seed }),
    ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
    ...(presencePenalty === undefined ? {} : { presencePenalty }),
    ...(responseFormat === undefined ? {} : { responseFormat: convertResponseFormat(responseFormat) }),
  }
}

const convertResponseFormat = ({ schema, name, description }: ResponseFormat): NonNullable<CallOptions['responseFormat']> => ({
  type: 'json',
  ...(schema === undefined ? {} : { schema: schema as Schema }),
  ...(name === undefined ? {} : { name }),
  ...(description === undefined ? {} : { description }),
})

const convertToolChoice = (choice: ToolChoice): NonNullable<CallOptions['toolChoice']> =>
  typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name }

const convertTool = ({ name, description, parameters }: ToolDefinition) => ({
  type: 'function' as const,
  name,
  description,
  inputSchema: parameters as Schema,
})

/** Omits empty texts, because providers reject them, and groups the results of parallel tool calls. */
function appendMessage(prompt: Prompt, message: ChatMessage): void {
  if (message.role === 'user') prompt.push({ role: 'user', content: convertUserContent(message) })
  if (message.role === 'assistant') {
    const content: AssistantContent = message.content.trim() === '' ? [] : [{ type: 'text', text: message.content }]
    for (const { id, name, arguments: input, seal } of message.toolCalls ?? [])
      content.push({ type: 'tool-call', toolCallId: id, toolName: name, input, ...(seal ? { providerOptions: seal as never } : {}) })
    if (content.length > 0) prompt.push({ role: 'assistant', content })
  }
  if (message.role === 'tool') {
    const { callId, name, content, failed } = message
    const result: ToolContent[number] = {
      type: 'tool-result',
      toolCallId: callId,
      toolName: name,
      output: { type: failed ? 'error-text' : 'text', value: markToolResult(content) },
    }
    const last = prompt.at(-1)
    if (last?.role === 'tool') last.content.push(result)
    else prompt.push({ role: 'tool', content: [result] })
  }
}

function convertUserContent({ content, images = [] }: Extract<ChatMessage, { role: 'user' }>): UserContent {
  const text: UserContent = content === '' && images.length > 0 ? [] : [{ type: 'text', text: content === '' ? ' ' : content }]
  return [...text, ...images.map(({ type, data }) => ({ type: 'file' as const, mediaType: type, data }))]
}
