/** Requests and responses of chat completions in OpenAI's format. */
import { type Static, Type } from 'typebox'
import { confidence } from '../schemas/confidence.ts'
import { count, flag, integer, namedObject, nonEmptyText, nullable, optional, stringEnum } from '../schemas/fields.ts'
import { OpenaiError } from './error-schema.ts'
import { citations, conversationId, created, lenientObject, optionalOrNull, usedModel } from './fields.ts'
import {
  functionFields,
  IMAGE_URL_DESCRIPTION,
  imageDetail,
  jsonSchemaFields,
  MAX_TEXT_LENGTH,
  maxTokens,
  model,
  replyFields,
  textOrParts,
  toolChoice,
  toolName,
} from './request-fields.ts'

const text = Type.String({ maxLength: MAX_TEXT_LENGTH, description: 'Text of the part.' })

const ContentPart = lenientObject('ChatContentPart', 'A part of a message.', {
  type: stringEnum(['text', 'image_url', 'refusal', 'input_audio', 'file'], { description: 'Kind of part: text or image_url.' }),
  ...optional({
    text,
    refusal: text,
    image_url: lenientObject('ChatImageUrl', 'An image.', {
      url: Type.String({ minLength: 1, description: IMAGE_URL_DESCRIPTION }),
      ...optional({ detail: imageDetail }),
    }),
  }),
})

const ToolCallInput = lenientObject('ChatToolCall', 'A call of a tool of the client.', {
  id: nonEmptyText('Identifier of the call.', 500),
  type: Type.Literal('function', { description: 'Kind of tool.' }),
  function: lenientObject('ChatFunctionCall', 'A call of a function.', {
    name: toolName,
    arguments: Type.String({ description: 'Arguments as JSON.' }),
  }),
})

export type ChatMessageInput = Static<typeof ChatMessageInput>
export const ChatMessageInput = lenientObject('ChatMessage', "A message in OpenAI's format.", {
  role: stringEnum(['system', 'developer', 'user', 'assistant', 'tool'], { description: 'Author of the message.' }),
  ...optionalOrNull({
    content: textOrParts('Text of the message, or its parts.', ContentPart),
    name: Type.String({ description: 'Accepted without effect.' }),
    tool_calls: Type.Array(ToolCallInput, { description: 'Of an assistant: calls of tools of the client.' }),
    tool_call_id: Type.String({ description: 'Of a tool: the call that this message is the result of.' }),
  }),
})

const ChatTool = namedObject('ChatTool', 'A tool of the client.', {
  type: Type.Literal('function', { description: 'Kind of tool. Only functions are supported.' }),
  function: namedObject('ChatFunction', 'A function that the client executes.', functionFields),
})

const ChatToolChoice = toolChoice(
  'ChatToolChoice',
  namedObject('ChatNamedToolChoice', 'A function that must be called.', {
    type: Type.Literal('function', { description: 'Kind of tool.' }),
    function: namedObject('ChatToolChoiceFunction', 'A function to call.', { name: toolName }),
  }),
)

const ChatResponseFormat = namedObject('ChatResponseFormat', 'The format of the reply.', {
  type: stringEnum(['text', 'json_object', 'json_schema'], { description: 'Format of the reply.' }),
  ...optional({ json_schema: namedObject('ChatJsonSchema', 'A schema for the reply.', jsonSchemaFields) }),
})

const penalty = Type.Number({ minimum: -2, maximum: 2, description: 'Penalty for repeated tokens.' })

export type ChatCompletionCreate = Static<typeof ChatCompletionCreate>
export const ChatCompletionCreate = namedObject(
  'ChatCompletionCreate',
  'A request for a chat completion.',
  {
    model,
    messages: Type.Array(ChatMessageInput, { minItems: 1, maxItems: 10_000, description: 'All messages of the conversation.' }),
    ...optionalOrNull({
      ...replyFields,
      stream_options: lenientObject(
        'ChatStreamOptions',
        'Options of a stream.',
        optional({ include_usage: flag('Whether the last chunk contains the usage.') }),
      ),
      max_tokens: maxTokens,
      max_completion_tokens: maxTokens,
      stop: Type.Unsafe<string | string[]>({
        description: 'Texts at which the reply ends.',
        anyOf: [{ type: 'string' }, { type: 'array', maxItems: 16, items: { type: 'string' } }],
      }),
      seed: Type.Integer({ description: 'Seed for reproducible replies, if the provider supports it.' }),
      frequency_penalty: penalty,
      presence_penalty: penalty,
      response_format: ChatResponseFormat,
      tools: Type.Array(ChatTool, { maxItems: 128, description: 'Functions that the client executes.' }),
      tool_choice: ChatToolChoice,
      store: flag('Whether to store the question and the reply as a conversation. Only for agents.'),
      n: integer('Number of replies. Only 1 is supported.', { minimum: 1, maximum: 1 }),
      logprobs: Type.Unsafe<false>({ type: 'boolean', enum: [false], description: 'Not supported.' }),
      modalities: Type.Array(Type.Literal('text'), { description: 'Kinds of output. Only text is supported.' }),
      reasoning_effort: Type.String({ description: 'Accepted without effect.' }),
      verbosity: Type.String({ description: 'Accepted without effect.' }),
    }),
  },
  [{ model: 'Helper', messages: [{ role: 'user', content: 'How many days of leave do I have?' }] }],
)

const ChatUsage = namedObject('ChatUsage', 'The usage of a reply.', {
  prompt_tokens: count('Input tokens of all model calls of the reply.'),
  completion_tokens: count('Output tokens of all model calls of the reply.'),
  total_tokens: count('Input and output tokens.'),
})

const finishReason = stringEnum(['stop', 'length', 'tool_calls', 'content_filter'], { description: 'Why the reply ended.' })
const toolCallFields = {
  id: Type.String({ description: 'Identifier of the call.' }),
  type: Type.Literal('function', { description: 'Kind of tool.' }),
  function: namedObject('CalledFunction', 'A call of a function.', {
    name: Type.String({ description: 'Name of the function.' }),
    arguments: Type.String({ description: 'Arguments as JSON.' }),
  }),
}
const ChatCalledTool = namedObject('ChatCalledTool', 'A call of a tool of the client.', toolCallFields)

/** Fields of a completion and of each of its chunks. */
const createHeader = <const Name extends string>(name: Name) => ({
  id: Type.String({ description: 'Identifier of the reply.' }),
  object: Type.Literal(name, { description: 'Kind of object.' }),
  created: created('the reply'),
  model: usedModel,
})
const index = Type.Literal(0, { description: 'Number of the reply.' })
const logprobs = Type.Null({ description: 'Not supported.' })

export type ChatCompletion = Static<typeof ChatCompletion>
export const ChatCompletion = namedObject('ChatCompletion', "A reply in OpenAI's format.", {
  ...createHeader('chat.completion'),
  choices: Type.Array(
    namedObject('ChatChoice', 'A reply and why it ended.', {
      index,
      message: namedObject('ChatReply', 'The reply.', {
        role: Type.Literal('assistant', { description: 'Author of the message.' }),
        content: nullable(Type.String({ description: 'Text of the reply; null if it only calls tools.' })),
        refusal: Type.Null({ description: 'Not supported.' }),
        ...optional({
          tool_calls: Type.Array(ChatCalledTool, { description: 'Calls of tools that the client executes.' }),
        }),
      }),
      finish_reason: finishReason,
      logprobs,
    }),
    { description: 'The reply.' },
  ),
  usage: ChatUsage,
  ...optional({ citations, confidence, conversation_id: conversationId }),
})

export type ChatCompletionChunk = Static<typeof ChatCompletionChunk>
export const ChatCompletionChunk = namedObject('ChatCompletionChunk', 'An event of a streamed reply. The last data is `[DONE]`.', {
  ...createHeader('chat.completion.chunk'),
  choices: Type.Array(
    namedObject('ChatChunkChoice', 'A part of the reply.', {
      index,
      delta: namedObject(
        'ChatDelta',
        'The next part of the reply.',
        optional({
          role: Type.Literal('assistant', { description: 'Author of the message.' }),
          content: Type.String({ description: 'The next part of the text.' }),
          tool_calls: Type.Array(
            namedObject('ChatCalledToolDelta', 'A call of a tool of the client.', {
              index: count('Number of the call.'),
              ...toolCallFields,
            }),
            { description: 'Calls of tools that the client executes.' },
          ),
        }),
      ),
      finish_reason: nullable(finishReason),
      logprobs,
    }),
    { description: 'A part of the reply; empty in the chunk with the usage.' },
  ),
  ...optional({ usage: nullable(ChatUsage), citations, confidence, conversation_id: conversationId }),
})

/** Events without a name are called message. */
export const CHAT_EVENTS = { message: ChatCompletionChunk, error: OpenaiError }
