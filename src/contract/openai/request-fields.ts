/** Fields of the requests for chat completions and responses. */
import { type Static, type TSchema, Type } from 'typebox'
import { EMBEDDED_MODEL_ID } from '../families/models.ts'
import { flag, integer, jsonObject, stringEnum } from '../schemas/fields.ts'
import { optionalOrNull } from './fields.ts'

export const MAX_TEXT_LENGTH = 4_000_000
export const IMAGE_URL_DESCRIPTION = 'The image as data URL, such as `data:image/png;base64,…`, or its http or https URL.'

export const textOrParts = <S extends TSchema>(description: string, part: S) =>
  Type.Unsafe<string | Static<S>[]>({ description, anyOf: [{ type: 'string', maxLength: MAX_TEXT_LENGTH }, Type.Array(part)] })

export const imageDetail = stringEnum(['auto', 'low', 'high', 'original'], { description: 'Accepted without effect.' })

export const model = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Name or identifier of an agent or a model, as listed by `GET /v1/models`.',
  examples: [EMBEDDED_MODEL_ID],
})

export const toolName = Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$', description: 'Name of the function.' })

export const functionFields = {
  name: toolName,
  ...optionalOrNull({
    description: Type.String({ maxLength: 10_000, description: 'What the function does.' }),
    parameters: jsonObject('JSON Schema of the arguments, of type object.'),
    strict: flag('Accepted without effect.'),
  }),
}

/** `namedChoice` is the form that selects one function. */
export const toolChoice = <S extends TSchema>(title: string, namedChoice: S) =>
  Type.Unsafe<'none' | 'auto' | 'required' | Static<S>>({
    title,
    description: "Whether the model calls the client's tools. The agent's own tools run in any case.",
    anyOf: [{ type: 'string', enum: ['none', 'auto', 'required'] }, namedChoice],
  })

/** Schemas that the reply must match. */
export const jsonSchemaFields = {
  name: Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$', description: 'Name of the schema.' }),
  ...optionalOrNull({
    description: Type.String({ maxLength: 10_000, description: 'What the reply is for.' }),
    schema: jsonObject('JSON Schema of the reply.'),
    strict: flag('Whether the provider must enforce the schema.'),
  }),
}

export const maxTokens = integer("Maximum tokens of the reply. Lowers the agent's limit and never raises it.", { minimum: 1 })

/** Fields that clients send and that do not change the reply. */
export const hintFields = {
  metadata: jsonObject('Accepted without effect.'),
  parallel_tool_calls: flag('Accepted without effect.'),
  prompt_cache_key: Type.String({ description: 'Accepted without effect.' }),
  prompt_cache_options: jsonObject('Accepted without effect.'),
  prompt_cache_retention: Type.String({ description: 'Accepted without effect.' }),
  safety_identifier: Type.String({ description: 'Accepted without effect.' }),
  service_tier: Type.String({ description: 'Accepted without effect.' }),
  user: Type.String({ description: 'Accepted without effect: the user is that of the token.' }),
}

/** Optional fields of chat completions and responses. */
export const replyFields = {
  temperature: Type.Number({ minimum: 0, maximum: 2, description: "Sampling temperature. Default: the agent's." }),
  top_p: Type.Number({ minimum: 0, maximum: 1, description: 'Share of the most likely tokens to choose from.' }),
  ...hintFields,
  stream: flag('Whether to stream the reply as server-sent events.'),
}
