/** Helpers and fields that the requests and responses of the OpenAI-compatible API share. */
import { type TObject, Type } from 'typebox'
import { count, type Fields, nullable, optional } from '../schemas/fields.ts'
import { Citation } from '../schemas/messages.ts'

/** An object that may have further fields, which are ignored: clients send back what they received from other servers. */
export const lenientObject = <F extends Fields>(title: string, description: string, fields: F): TObject<F> =>
  Type.Object(fields, { additionalProperties: true, title, description })

/** All fields are optional and can be null. */
export const optionalOrNull = <F extends Fields>(fields: F) =>
  optional(
    Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, nullable(schema)])) as {
      [K in keyof F]: ReturnType<typeof nullable<F[K]>>
    },
  )

export const usedModel = Type.String({ description: 'The model of the request.' })

export const created = (what: string) => count(`Time of ${what}, in seconds since 1970.`)

export const citations = Type.Array(Citation, {
  description: 'Passages that the agent found, numbered as in the text. Only for agents with documents.',
})

export const conversationId = Type.String({ description: 'Identifier of the conversation, if the call is stored.' })
