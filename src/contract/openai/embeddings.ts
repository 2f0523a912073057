/** Requests and responses of embeddings in OpenAI's format. */
import { type Static, Type } from 'typebox'
import { count, integer, namedObject, nonEmptyText, stringEnum } from '../schemas/fields.ts'
import { optionalOrNull, usedModel } from './fields.ts'
import { hintFields } from './request-fields.ts'

const MAX_TEXT_LENGTH = 1_000_000
const { user } = hintFields

export type EmbeddingCreate = Static<typeof EmbeddingCreate>
export const EmbeddingCreate = namedObject(
  'EmbeddingCreate',
  'Texts to embed.',
  {
    model: nonEmptyText('minilm, or the name or identifier of an embedding model.', 200),
    input: Type.Unsafe<string | string[] | number[] | number[][]>({
      description: 'A text, or up to 2,048 texts. Arrays of tokens are not supported.',
      anyOf: [
        { type: 'string', minLength: 1, maxLength: MAX_TEXT_LENGTH },
        {
          type: 'array',
          minItems: 1,
          maxItems: 2_048,
          items: {
            anyOf: [
              { type: 'string', minLength: 1, maxLength: MAX_TEXT_LENGTH },
              { type: 'integer' },
              { type: 'array', items: { type: 'integer' } },
            ],
          },
        },
      ],
    }),
    ...optionalOrNull({
      encoding_format: stringEnum(['float', 'base64'], { description: 'Format of the vectors: numbers, or base64 of 32-bit floats.' }),
      dimensions: integer("Number of dimensions. Only the model's own is supported.", { minimum: 1 }),
      user,
    }),
  },
  [{ model: 'minilm', input: 'Annual leave' }],
)

export type EmbeddingList = Static<typeof EmbeddingList>
export const EmbeddingList = namedObject('EmbeddingList', "Vectors in OpenAI's format.", {
  object: Type.Literal('list', { description: 'Kind of object.' }),
  data: Type.Array(
    namedObject('OpenaiEmbedding', 'The vector of a text.', {
      object: Type.Literal('embedding', { description: 'Kind of object.' }),
      index: count('Number of the text.'),
      embedding: Type.Unsafe<number[] | string>({
        description: 'The vector.',
        anyOf: [{ type: 'array', items: { type: 'number' } }, { type: 'string' }],
      }),
    }),
    { description: 'Vectors in the order of the texts.' },
  ),
  model: usedModel,
  usage: namedObject('EmbeddingUsage', 'The usage of the call.', {
    prompt_tokens: count('Tokens of the texts.'),
    total_tokens: count('Tokens of the texts.'),
  }),
})
