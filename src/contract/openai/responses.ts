/** Requests and responses of OpenAI's responses API: the part that its SDK and agents need. */
import { type Static, Type } from 'typebox'
import { confidence } from '../schemas/confidence.ts'
import { count, flag, jsonObject, namedObject, nonEmptyText, nullable, optional, stringEnum } from '../schemas/fields.ts'
import { citations, created, lenientObject, optionalOrNull, usedModel } from './fields.ts'
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

const InputPart = lenientObject('ResponseInputPart', 'A part of a message.', {
  type: stringEnum(['input_text', 'output_text', 'refusal', 'input_image', 'input_file', 'input_audio'], {
    description: 'Kind of part: input_text, output_text, refusal or input_image.',
  }),
  ...optionalOrNull({
    text: Type.String({ maxLength: MAX_TEXT_LENGTH, description: 'Text of the part.' }),
    refusal: Type.String({ maxLength: MAX_TEXT_LENGTH, description: 'Text of a refusal.' }),
    image_url: Type.String({ description: IMAGE_URL_DESCRIPTION }),
    detail: imageDetail,
  }),
})
const content = textOrParts('Text, or its parts.', InputPart)

export type ResponseInputItem = Static<typeof ResponseInputItem>
export const ResponseInputItem = lenientObject(
  'ResponseInputItem',
  'A message, a function call or its result.',
  optionalOrNull({
    type: Type.String({ description: 'Kind of item: message (default), function_call, function_call_output or reasoning.' }),
    role: stringEnum(['system', 'developer', 'user', 'assistant'], { description: 'Author of a message.' }),
    content,
    call_id: nonEmptyText('Identifier of a function call.', 500),
    name: Type.String({ description: 'Name of a called function.' }),
    arguments: Type.String({ description: 'Arguments of a function call, as JSON.' }),
    output: content,
  }),
)

const ResponseTool = lenientObject('ResponseTool', 'A function that the client executes.', {
  type: Type.Literal('function', { description: 'Kind of tool. Only functions are supported.' }),
  ...functionFields,
})

const ResponseToolChoice = toolChoice(
  'ResponseToolChoice',
  namedObject('ResponseNamedToolChoice', 'A function that must be called.', {
    type: Type.Literal('function', { description: 'Kind of tool.' }),
    name: toolName,
  }),
)

const textFormatFields = {
  type: stringEnum(['text', 'json_object', 'json_schema'], { description: 'Format of the reply.' }),
  ...jsonSchemaFields,
  ...optionalOrNull({ name: jsonSchemaFields.name }),
}
const TextOptions = lenientObject(
  'ResponseText',
  'Options of the text of the reply.',
  optionalOrNull({
    format: namedObject('ResponseTextFormat', 'The format of the reply.', textFormatFields),
    verbosity: Type.String({ description: 'Accepted without effect.' }),
  }),
)

const Conversation = Type.Unsafe<string | { id: string }>({
  title: 'ResponseConversation',
  description: 'The conversation to continue. Its messages precede the input.',
  anyOf: [
    { type: 'string', minLength: 1, maxLength: 200 },
    namedObject('ResponseConversationId', 'A conversation.', { id: Type.String({ description: 'Identifier of the conversation.' }) }),
  ],
})

export type ResponseCreate = Static<typeof ResponseCreate>
export const ResponseCreate = namedObject(
  'ResponseCreate',
  'A request for a response.',
  {
    model,
    input: Type.Unsafe<string | ResponseInputItem[]>({
      description: 'The message, or all messages, function calls and results.',
      anyOf: [
        { type: 'string', minLength: 1, maxLength: MAX_TEXT_LENGTH },
        Type.Array(ResponseInputItem, { minItems: 1, maxItems: 10_000 }),
      ],
    }),
    ...optionalOrNull({
      ...replyFields,
      instructions: Type.String({ maxLength: MAX_TEXT_LENGTH, description: 'Instructions, in addition to those of the agent.' }),
      stream_options: jsonObject('Accepted without effect.'),
      max_output_tokens: maxTokens,
      tools: Type.Array(ResponseTool, { maxItems: 128, description: 'Functions that the client executes.' }),
      tool_choice: ResponseToolChoice,
      text: TextOptions,
      store: flag(
        'Whether to store the question and the reply as a conversation, which previous_response_id can continue. Only for agents.',
      ),
      previous_response_id: nonEmptyText(
        'A stored response. The messages of its conversation precede the input, and the reply is stored there.',
        200,
      ),
      conversation: Conversation,
      background: Type.Unsafe<false>({ type: 'boolean', enum: [false], description: 'Not supported.' }),
      include: Type.Array(Type.String(), { description: 'Accepted without effect.' }),
      reasoning: jsonObject('Accepted without effect.'),
      truncation: Type.String({ description: 'Accepted without effect: the oldest messages are left out if the context is full.' }),
    }),
  },
  [{ model: 'Helper', input: 'How many days of leave do I have?' }],
)

const STATUSES = ['in_progress', 'completed', 'incomplete', 'failed'] as const
const status = stringEnum(STATUSES, { description: 'Whether it is complete.' })
export type OutputText = Static<typeof OutputText>
export const OutputText = namedObject('ResponseOutputText', 'Text of the reply.', {
  type: Type.Literal('output_text', { description: 'Kind of part.' }),
  text: Type.String({ description: 'Text of the reply.' }),
  annotations: Type.Array(
    namedObject('ResponseFileCitation', 'A citation of a document.', {
      type: Type.Literal('file_citation', { description: 'Kind of annotation.' }),
      file_id: Type.String({ description: 'Identifier of the document.' }),
      filename: Type.String({ description: 'Name of the document.' }),
      index: count('Position of the citation in the text.'),
    }),
    { description: 'Citations in the text.' },
  ),
  logprobs: Type.Array(Type.Unknown(), { description: 'Not supported: empty.' }),
})
export type OutputMessage = Static<typeof OutputMessage>
const OutputMessage = namedObject('ResponseOutputMessage', 'A message.', {
  type: Type.Literal('message', { description: 'Kind of item.' }),
  id: Type.String({ description: 'Identifier of the message.' }),
  status,
  role: Type.Literal('assistant', { description: 'Author of the message.' }),
  content: Type.Array(OutputText, { description: 'Text of the message.' }),
})
export type FunctionCall = Static<typeof FunctionCall>
const FunctionCall = namedObject('ResponseFunctionCall', 'A call of a function of the client.', {
  type: Type.Literal('function_call', { description: 'Kind of item.' }),
  id: Type.String({ description: 'Identifier of the item.' }),
  call_id: Type.String({ description: 'Identifier of the call.' }),
  name: Type.String({ description: 'Name of the function.' }),
  arguments: Type.String({ description: 'Arguments as JSON.' }),
  status,
})
export const OutputItem = Type.Unsafe<OutputMessage | FunctionCall>({
  title: 'ResponseOutputItem',
  description: 'A message or a call of a function of the client.',
  anyOf: [OutputMessage, FunctionCall],
})

const ResponseUsage = namedObject('ResponseUsage', 'The usage of a reply.', {
  input_tokens: count('Input tokens of all model calls of the reply.'),
  input_tokens_details: namedObject('ResponseInputTokens', 'Input tokens.', {
    cached_tokens: count('Not reported: 0.'),
  }),
  output_tokens: count('Output tokens of all model calls of the reply.'),
  output_tokens_details: namedObject('ResponseOutputTokens', 'Output tokens.', {
    reasoning_tokens: count('Not reported: 0.'),
  }),
  total_tokens: count('Input and output tokens.'),
})

export type OpenaiResponse = Static<typeof OpenaiResponse>
export const OpenaiResponse = namedObject('OpenaiResponse', "A reply in the format of OpenAI's responses.", {
  id: Type.String({ description: 'Identifier of the response.' }),
  object: Type.Literal('response', { description: 'Kind of object.' }),
  created_at: created('the response'),
  status: stringEnum([...STATUSES, 'cancelled'], { description: 'Whether it is complete. cancelled: the client disconnected.' }),
  error: nullable(
    namedObject('ResponseFailure', 'Why the response failed.', {
      code: Type.String({ description: 'Error code.' }),
      message: Type.String({ description: 'Error message.' }),
    }),
  ),
  incomplete_details: nullable(
    namedObject('ResponseIncompleteDetails', 'Why the reply is incomplete.', {
      reason: stringEnum(['max_output_tokens', 'content_filter'], { description: 'Why the reply is incomplete.' }),
    }),
  ),
  instructions: nullable(Type.String({ description: 'Instructions of the request.' })),
  model: usedModel,
  output: Type.Array(OutputItem, { description: 'The reply: messages and function calls.' }),
  parallel_tool_calls: flag('Whether the model may call several functions at once.'),
  previous_response_id: nullable(Type.String({ description: 'The response that this one continues.' })),
  conversation: nullable(
    namedObject('ResponseStoredConversation', 'Where the response is stored.', {
      id: Type.String({ description: 'Identifier of the conversation.' }),
    }),
  ),
  store: flag('Whether the response is stored.'),
  temperature: nullable(Type.Number({ description: 'Temperature of the request.' })),
  top_p: nullable(Type.Number({ description: 'top_p of the request.' })),
  max_output_tokens: nullable(Type.Integer({ description: 'Limit of the request.' })),
  text: namedObject('ResponseTextResult', 'Options of the text.', { format: jsonObject('Format of the request.') }),
  tool_choice: ResponseToolChoice,
  tools: Type.Array(jsonObject('A function of the request.'), { description: 'Functions of the request.' }),
  truncation: Type.Literal('auto', { description: 'The oldest messages are left out if the context is full.' }),
  metadata: jsonObject('Metadata of the request.'),
  usage: nullable(ResponseUsage),
  ...optional({ citations, confidence }),
})

export const DeletedResponse = namedObject('DeletedResponse', 'A deleted response.', {
  id: Type.String({ description: 'Identifier of the response.' }),
  object: Type.Literal('response', { description: 'Kind of object.' }),
  deleted: Type.Literal(true, { description: 'Always true.' }),
})
