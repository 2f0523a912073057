/** The event that reports an error in a stream. */
import { Type } from 'typebox'
import { ERRORS, type ErrorCode } from '../errors.ts'
import { identifier, namedObject, optional, stringEnum } from './fields.ts'

export const ErrorEvent = namedObject(
  'ErrorEvent',
  'Data of `error`: the stream ends with an error.',
  {
    error: Type.String({ description: 'Error message.' }),
    code: stringEnum(Object.keys(ERRORS) as ErrorCode[], { description: 'Error code.' }),
    ...optional({
      message_id: identifier('the reply that failed'),
      hint: Type.String({ description: 'How to fix the error.' }),
    }),
  },
  [{ error: 'The token is no longer valid.', code: 'UNAUTHENTICATED' }],
)
