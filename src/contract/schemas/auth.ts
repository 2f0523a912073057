/** How a call to somebody else proves who it is; values are written and never read again. */
import { Type } from 'typebox'
import { object } from './fields.ts'

export const secret = (what: string, minLength = 1) =>
  Type.String({ minLength, maxLength: 10_000, pattern: '^[^\\r\\n\\u0000]*$', writeOnly: true, description: `${what} Write-only.` })

export const noAuth = object({ type: Type.Literal('none') })
export const bearerAuth = object({ type: Type.Literal('bearer'), token: secret('The token.') })
/** Some servers take a key for a user name, and no password with it. */
export const basicAuth = object({
  type: Type.Literal('basic'),
  username: secret('The user name.'),
  password: secret('The password, which may be empty.', 0),
})
