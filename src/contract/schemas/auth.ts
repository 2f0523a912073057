/** Authentication of outgoing requests. Secret values are write-only. */
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox'
import { namedObject } from './fields.ts'

export const secret = (description: string, minLength = 1) =>
  Type.String({ minLength, maxLength: 10_000, pattern: '^[^\\r\\n\\u0000]*$', writeOnly: true, description: `${description} Write-only.` })

export const noAuth = namedObject('NoAuth', 'No authentication.', { type: Type.Literal('none') })
export const bearerAuth = namedObject('BearerAuth', 'Authentication with a token.', {
  type: Type.Literal('bearer'),
  token: secret('Token.'),
})
/** Some servers expect a key as user name and an empty password. */
export const basicAuth = namedObject('BasicAuth', 'Authentication with a user name and a password.', {
  type: Type.Literal('basic'),
  username: secret('User name.'),
  password: secret('Password, which may be empty.', 0),
})

export const HEADER_NAME = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$"
export const headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 50,
  propertyNames: { pattern: HEADER_NAME },
  additionalProperties: { type: 'string', maxLength: 10_000, pattern: '^[^\\r\\n\\u0000]*$' },
  writeOnly: true,
  description: 'Additional request headers. The values are write-only.',
})

/** One of several schemas, selected by `type`, so that a validation error names the invalid field. */
export function authentication<S extends TSchema>(description: string, schemas: S[], example: Static<S>): TUnsafe<Static<S>> {
  return Type.Unsafe({
    type: 'object',
    description,
    default: { type: 'none' },
    required: ['type'],
    discriminator: { propertyName: 'type' },
    oneOf: schemas,
    examples: [example],
  })
}
