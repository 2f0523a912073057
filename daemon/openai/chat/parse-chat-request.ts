/** Converts a chat completion request to the messages and options of a reply. */
import { createValidationError } from '../../../src/contract/errors.ts'
import type { ChatCompletionCreate, ChatMessageInput } from '../../../src/contract/openai/chat-completions.ts'
import type { ReplyOptions } from '../../conversations/agent-loop/turn-context.ts'
import type { ChatImage, ChatMessage, ResponseFormat, ToolCall } from '../../models/chat-model.ts'
import type { LoadImage } from '../image-loader.ts'
import { joinInstructions, type ParsedRequest, readText } from '../parse-request.ts'
import { createToolOptions, parseArguments } from '../parse-tools.ts'
import { removeSources } from '../sources.ts'

export async function parseChatRequest(body: ChatCompletionCreate, loadImage: LoadImage): Promise<ParsedRequest> {
  const instructions: string[] = []
  const messages: ChatMessage[] = []
  for (const [index, message] of body.messages.entries()) {
    const field = `messages.${index}`
    if (message.role === 'system' || message.role === 'developer') instructions.push(readContent(message, field))
    else messages.push(await convertMessage(message, field, loadImage))
  }
  return { instructions: joinInstructions(instructions), messages, options: parseOptions(body) }
}

function parseOptions(body: ChatCompletionCreate): ReplyOptions {
  const { temperature, top_p, max_tokens, max_completion_tokens, stop, seed, frequency_penalty, presence_penalty } = body
  const { tool_choice } = body
  return {
    temperature: temperature ?? undefined,
    maxTokens: max_completion_tokens ?? max_tokens ?? undefined,
    sampling: {
      topP: top_p ?? undefined,
      stop: stop == null ? undefined : [stop].flat(),
      seed: seed ?? undefined,
      frequencyPenalty: frequency_penalty ?? undefined,
      presencePenalty: presence_penalty ?? undefined,
      responseFormat: parseResponseFormat(body),
    },
    ...createToolOptions(
      (body.tools ?? []).map((tool) => tool.function),
      typeof tool_choice === 'object' && tool_choice !== null ? { name: tool_choice.function.name } : (tool_choice ?? 'auto'),
    ),
  }
}

function parseResponseFormat({ response_format }: ChatCompletionCreate): ResponseFormat | undefined {
  if (!response_format || response_format.type === 'text') return undefined
  if (response_format.type === 'json_object') return {}
  const { json_schema } = response_format
  if (!json_schema) throw createValidationError('response_format.json_schema', 'is required')
  const { name, description, schema, strict } = json_schema
  return { name, description: description ?? undefined, schema: schema ?? {}, strict: strict ?? undefined }
}

async function convertMessage(message: ChatMessageInput, field: string, loadImage: LoadImage): Promise<ChatMessage> {
  const { role, tool_call_id } = message
  if (role === 'tool') {
    if (!tool_call_id) throw createValidationError(`${field}.tool_call_id`, 'is required')
    return { role, callId: tool_call_id, name: '', content: readContent(message, field), failed: false }
  }
  if (role === 'assistant') {
    const toolCalls = convertToolCalls(message, field)
    return { role, content: removeSources(readContent(message, field)), ...(toolCalls.length > 0 ? { toolCalls } : {}) }
  }
  const images = await loadImages(message, field, loadImage)
  return { role: 'user', content: readContent(message, field), ...(images.length > 0 ? { images } : {}) }
}

const convertToolCalls = ({ tool_calls }: ChatMessageInput, field: string): ToolCall[] =>
  (tool_calls ?? []).map(({ id, function: called }, index) => ({
    id,
    name: called.name,
    arguments: parseArguments(called.arguments, `${field}.tool_calls.${index}.function.arguments`),
  }))

const readContent = ({ content }: ChatMessageInput, field: string): string => readText(content, `${field}.content`, ['text'], 'image_url')

async function loadImages({ content }: ChatMessageInput, field: string, loadImage: LoadImage): Promise<ChatImage[]> {
  if (!Array.isArray(content)) return []
  const images: ChatImage[] = []
  for (const [index, { type, image_url }] of content.entries()) {
    if (type !== 'image_url') continue
    const place = `${field}.content.${index}.image_url`
    if (!image_url) throw createValidationError(place, 'is required')
    images.push(await loadImage(image_url.url, `${place}.url`))
  }
  return images
}
