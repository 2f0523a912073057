/** The events of a streamed response in OpenAI's format. */
import { type Static, type TSchema, Type } from 'typebox'
import { count, type Fields, object } from '../schemas/fields.ts'
import { OpenaiError } from './error-schema.ts'
import { OpenaiResponse, OutputItem, OutputText } from './responses.ts'

const sequence_number = count('Number of the event.')
const item_id = Type.String({ description: 'Identifier of the item.' })
const output_index = count('Number of the item.')
const content_index = count('Number of the part.')

/** An event whose data repeats its name as `type`. */
function responseEvent<Name extends string, F extends Fields>(name: Name, fields: F, title: string) {
  const type = Type.Literal(name, { description: 'Name of the event.' })
  return object({ type, sequence_number, ...fields }, { title, description: `Data of \`${name}\`.` })
}

const response = { response: OpenaiResponse }
const item = { output_index, item: OutputItem }
const part = { item_id, output_index, content_index, part: OutputText }
const textPlace = { item_id, output_index, content_index, logprobs: Type.Array(Type.Unknown(), { description: 'Not supported: empty.' }) }

export const RESPONSE_EVENTS = {
  'response.created': responseEvent('response.created', response, 'ResponseCreatedEvent'),
  'response.in_progress': responseEvent('response.in_progress', response, 'ResponseInProgressEvent'),
  'response.output_item.added': responseEvent('response.output_item.added', item, 'ResponseOutputItemAddedEvent'),
  'response.content_part.added': responseEvent('response.content_part.added', part, 'ResponseContentPartAddedEvent'),
  'response.output_text.delta': responseEvent(
    'response.output_text.delta',
    { ...textPlace, delta: Type.String({ description: 'The next part of the text.' }) },
    'ResponseTextDeltaEvent',
  ),
  'response.output_text.done': responseEvent(
    'response.output_text.done',
    { ...textPlace, text: Type.String({ description: 'The whole text.' }) },
    'ResponseTextDoneEvent',
  ),
  'response.content_part.done': responseEvent('response.content_part.done', part, 'ResponseContentPartDoneEvent'),
  'response.function_call_arguments.delta': responseEvent(
    'response.function_call_arguments.delta',
    { item_id, output_index, delta: Type.String({ description: 'The next part of the arguments.' }) },
    'ResponseFunctionCallArgumentsDeltaEvent',
  ),
  'response.function_call_arguments.done': responseEvent(
    'response.function_call_arguments.done',
    {
      item_id,
      output_index,
      name: Type.String({ description: 'Name of the function.' }),
      arguments: Type.String({ description: 'Arguments as JSON.' }),
    },
    'ResponseFunctionCallArgumentsDoneEvent',
  ),
  'response.output_item.done': responseEvent('response.output_item.done', item, 'ResponseOutputItemDoneEvent'),
  'response.completed': responseEvent('response.completed', response, 'ResponseCompletedEvent'),
  'response.incomplete': responseEvent('response.incomplete', response, 'ResponseIncompleteEvent'),
  'response.failed': responseEvent('response.failed', response, 'ResponseFailedEvent'),
  error: OpenaiError,
} satisfies Record<string, TSchema>

type ResponseEventSchemas = Omit<typeof RESPONSE_EVENTS, 'error'>
export type ResponseEvents = { [Name in keyof ResponseEventSchemas]: Static<ResponseEventSchemas[Name]> }
