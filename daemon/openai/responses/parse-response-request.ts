/** Converts a request for a response to the messages and options of a reply. */
import { createValidationError } from '../../../src/contract/errors.ts'
import type { ResponseCreate, ResponseInputItem } from '../../../src/contract/openai/responses.ts'
import type { ReplyOptions } from '../../conversations/agent-loop/turn-context.ts'
import type { ChatImage, ChatMessage, ResponseFormat } from '../../models/chat-model.ts'
import type { LoadImage } from '../image-loader.ts'
import { joinInstructions, type ParsedRequest, readText } from '../parse-request.ts'
import { createToolOptions, parseArguments } from '../parse-tools.ts'
import { removeSources } from '../sources.ts'

type Content = ResponseInputItem['content'] | ResponseInputItem['output']

/** Items that describe how a model came to its reply; they are not needed to continue it. */
const IGNORED_ITEMS = new Set(['reasoning', 'compaction'])

export async function parseResponseRequest(body: ResponseCreate, loadImage: LoadImage): Promise<ParsedRequest> {
  const instructions = [body.instructions ?? '']
  const messages: ChatMessage[] = []
  const items = typeof body.input === 'string' ? [{ role: 'user' as const, content: body.input }] : body.input
  for (const [index, item] of items.entries()) {
    const field = `input.${index}`
    const { type, role } = item as ResponseInputItem
    if (role === 'system' || role === 'developer') instructions.push(readContent(item.content, `${field}.content`))
    else if (!IGNORED_ITEMS.has(type ?? '')) await appendItem(messages, item, field, loadImage)
  }
  return { instructions: joinInstructions(instructions), messages, options: parseOptions(body) }
}

function parseOptions({ temperature, top_p, max_output_tokens, tools, tool_choice, text }: ResponseCreate): ReplyOptions {
  return {
    temperature: temperature ?? undefined,
    maxTokens: max_output_tokens ?? undefined,
    sampling: { topP: top_p ?? undefined, responseFormat: parseTextFormat(text) },
    ...createToolOptions(
      tools ?? [],
      typeof tool_choice === 'object' && tool_choice !== null ? { name: tool_choice.name } : (tool_choice ?? 'auto'),
    ),
  }
}

function parseTextFormat(text: ResponseCreate['text']): ResponseFormat | undefined {
  const { type = 'text', name, description, schema, strict } = text?.format ?? {}
  if (type === 'text') return undefined
  if (type === 'json_object') return {}
  if (!schema) throw createValidationError('text.format.schema', 'is required')
  return { name: name ?? undefined, description: description ?? undefined, schema, strict: strict ?? undefined }
}

async function appendItem(messages: ChatMessage[], item: ResponseInputItem, field: string, loadImage: LoadImage): Promise<void> {
  const { type, role } = item
  if (type === 'function_call') return appendCall(messages, item, field)
  if (type === 'function_call_output') {
    const callId = requireField(item.call_id, `${field}.call_id`)
    messages.push({ role: 'tool', callId, name: '', content: readContent(item.output, `${field}.output`), failed: false })
    return
  }
  if (type != null && type !== 'message')
    throw createValidationError(`${field}.type`, `${type} is not supported`, 'Send message, function_call or function_call_output.')
  const content = readContent(item.content, `${field}.content`)
  if (requireField(role, `${field}.role`) === 'assistant') {
    messages.push({ role: 'assistant', content: removeSources(content) })
    return
  }
  const images = await loadImages(item, field, loadImage)
  messages.push({ role: 'user', content, ...(images.length > 0 ? { images } : {}) })
}

/** Calls belong to the assistant's message before them. */
function appendCall(messages: ChatMessage[], item: ResponseInputItem, field: string): void {
  const call = {
    id: requireField(item.call_id, `${field}.call_id`),
    name: requireField(item.name, `${field}.name`),
    arguments: parseArguments(item.arguments ?? '', `${field}.arguments`),
  }
  const last = messages.at(-1)
  if (last?.role === 'assistant') messages[messages.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), call] }
  else messages.push({ role: 'assistant', content: '', toolCalls: [call] })
}

function requireField<T>(value: T | null | undefined, field: string): T {
  if (value == null) throw createValidationError(field, 'is required')
  return value
}

const readContent = (content: Content, field: string): string => readText(content, field, ['input_text', 'output_text'], 'input_image')

async function loadImages({ content }: ResponseInputItem, field: string, loadImage: LoadImage): Promise<ChatImage[]> {
  if (!Array.isArray(content)) return []
  const images: ChatImage[] = []
  for (const [index, { type, image_url }] of content.entries()) {
    const place = `${field}.content.${index}.image_url`
    if (type === 'input_image') images.push(await loadImage(requireField(image_url, place), place))
  }
  return images
}
