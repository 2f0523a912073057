/** Access tokens and their roles. */
import { Type } from 'typebox'
import { createBody, createCrudRoutes, createFamily, updateBody } from '../crud.ts'
import { ROLES } from '../route.ts'
import { createExample, namedObject, nonEmptyText, nullable, resource, resourceName, stringEnum, timestamp } from '../schemas/fields.ts'

const requiredFields = {
  name: resourceName('token'),
  role: stringEnum(ROLES, {
    description:
      'Role. admin: everything; editor: all except tokens, webhooks, keys and local paths; member: own conversations; viewer: read.',
  }),
}
const optionalFields = {
  user_id: nullable(nonEmptyText('User of the token. Required for members.', 200)),
  expires_at: nullable(timestamp('Time of expiry')),
}
const example = { name: 'Nightly script', role: 'viewer' }

export const Token = resource(
  'token',
  { ...requiredFields, ...optionalFields, last_used_at: nullable(timestamp('Time of the last use, rounded down to the minute')) },
  {
    description: 'An access token, without its secret.',
    examples: [createExample('tok', { ...example, user_id: null, expires_at: null, last_used_at: null })],
  },
)
export const TokenCreated = namedObject('TokenCreated', 'A new token with its value, which is returned only once.', {
  ...Token.properties,
  token: Type.String({ description: 'Value of the token. It is returned only once.' }),
})
export const TokenCreate = createBody('token', requiredFields, optionalFields, example)
const TokenUpdate = updateBody('token', { name: requiredFields.name, expires_at: optionalFields.expires_at }, { name: 'Weekly script' })

export const tokens = createFamily({
  name: 'tokens',
  noun: 'token',
  prefix: 'tok',
  resource: Token,
  create: TokenCreate,
  update: TokenUpdate,
  serverFields: ['last_used_at'],
})
export const tokenRoutes = createCrudRoutes(tokens, { read: 'admin', change: 'admin', revealsSecret: 'token' }, TokenCreated)
