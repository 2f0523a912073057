/** Fields that several requests and responses of the OpenAI-compatible API share. */
import { type TObject, Type } from 'typebox'
import { EMBEDDED_MODEL_ID } from '../families/models.ts'
import { type Fields, jsonObject, nullable, optional, stringEnum } from '../schemas/fields.ts'
import { Citation } from '../schemas/messages.ts'

/** An object that may have further fields, which are ignored: clients send back what they received from other servers. */
export function lenientObject<F extends Fields>(fields: F, options: object): TObject<F> {
  return Type.Object(fields, { additionalProperties: true, ...options })
}

/** All fields are optional and can be null. */
export const optionalOrNull = <F extends Fields>(fields: F) =>
  optional(
    Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, nullable(schema)])) as {
      [K in keyof F]: ReturnType<typeof nullable<F[K]>>
    },
  )

export const model = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Name or identifier of an agent or a model, as listed by `GET /v1/models`.',
  examples: [EMBEDDED_MODEL_ID],
})

export const usedModel = Type.String({ description: 'The model of the request.' })

export const created = (what: string) => Type.Integer({ minimum: 0, description: `Time of ${what}, in seconds since 1970.` })

export const toolName = Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$', description: 'Name of the function.' })

export const functionFields = {
  name: toolName,
  ...optionalOrNull({
    description: Type.String({ maxLength: 10_000, description: 'What the function does.' }),
    parameters: jsonObject('JSON Schema of the arguments, of type object.'),
    strict: Type.Boolean({ description: 'Accepted without effect.' }),
  }),
}

/** Schemas that the reply must match. */
export const jsonSchemaFields = {
  name: Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$', description: 'Name of the schema.' }),
  ...optionalOrNull({
    description: Type.String({ maxLength: 10_000, description: 'What the reply is for.' }),
    schema: jsonObject('JSON Schema of the reply.'),
    strict: Type.Boolean({ description: 'Whether the provider must enforce the schema.' }),
  }),
}

export const samplingFields = {
  temperature: Type.Number({ minimum: 0, maximum: 2, description: "Sampling temperature. Default: the agent's." }),
  top_p: Type.Number({ minimum: 0, maximum: 1, description: 'Share of the most likely tokens to choose from.' }),
}

/** Fields that clients send and that do not change the reply. */
export const hintFields = {
  metadata: jsonObject('Accepted without effect.'),
  parallel_tool_calls: Type.Boolean({ description: 'Accepted without effect.' }),
  prompt_cache_key: Type.String({ description: 'Accepted without effect.' }),
  prompt_cache_options: jsonObject('Accepted without effect.'),
  prompt_cache_retention: Type.String({ description: 'Accepted without effect.' }),
  safety_identifier: Type.String({ description: 'Accepted without effect.' }),
  service_tier: Type.String({ description: 'Accepted without effect.' }),
  user: Type.String({ description: 'Accepted without effect: the user is that of the token.' }),
}

export const stream = Type.Boolean({ description: 'Whether to stream the reply as server-sent events.' })

export const citations = Type.Array(Citation, {
  description: 'Passages that the agent found, numbered as in the text. Only for agents with documents.',
})

export const conversationId = Type.String({ description: 'Identifier of the conversation, if the call is stored.' })

export const imageDetail = stringEnum(['auto', 'low', 'high', 'original'], { description: 'Accepted without effect.' })
