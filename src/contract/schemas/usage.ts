/** Model tokens of an answer. */
import type { Static } from 'typebox'
import { count, flag, namedObject, optional } from './fields.ts'

export type Usage = Static<typeof Usage>
export const Usage = namedObject('Usage', 'Model tokens of an answer.', {
  input_tokens: count('Input tokens.'),
  output_tokens: count('Output tokens.'),
  total_tokens: count('Input and output tokens.'),
  ...optional({
    estimated: flag('True if at least a part is an estimate, because the provider did not report it; else absent.'),
  }),
})
