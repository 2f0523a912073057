/** The schema of errors in the format of OpenAI's API. */
import { Type } from 'typebox'
import { namedObject, nullable } from '../schemas/fields.ts'

export const OpenaiError = namedObject(
  'OpenaiError',
  "An error in OpenAI's format.",
  {
    error: namedObject('OpenaiErrorDetails', 'An error.', {
      message: Type.String({ description: 'Error message, with a hint how to fix it if there is one.' }),
      type: Type.String({ description: 'Kind of error: invalid_request_error, insufficient_quota, requests or server_error.' }),
      param: nullable(Type.String({ description: 'The invalid field of the request.' })),
      code: nullable(Type.String({ description: 'Code of the error, such as model_not_found.' })),
    }),
  },
  [{ error: { message: 'There is no agent or model "x".', type: 'invalid_request_error', param: 'model', code: 'model_not_found' } }],
)
