/** Model tokens of an answer. */
import type { Static } from 'typebox'
import { count, object } from './fields.ts'

export type Usage = Static<typeof Usage>
export const Usage = object(
  {
    input_tokens: count('Input tokens.'),
    output_tokens: count('Output tokens.'),
    total_tokens: count('Input and output tokens.'),
  },
  { title: 'Usage', description: 'Model tokens of an answer.' },
)
