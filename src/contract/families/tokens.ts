/** Access tokens: who may call the service, and as what. */
import { Type } from 'typebox'
import { crud, type Family } from '../crud.ts'
import { ROLES } from '../route.ts'
import { nullable, object, optional, resource, resourceName, stringEnum, timestamp } from '../schemas/fields.ts'

const needed = {
  name: resourceName('token'),
  role: stringEnum(ROLES, {
    description:
      'admin does everything; editor all but tokens, webhooks, model keys and paths on the disk; member talks to agents in conversations of its own; viewer reads.',
  }),
}
const settings = {
  user_id: nullable(Type.String({ minLength: 1, maxLength: 200, description: 'Whose token it is; needed for members.' })),
  expires_at: nullable(timestamp('When it stops working')),
}
const example = { name: 'Nightly script', role: 'viewer' }

export const Token = resource(
  'token',
  { ...needed, ...settings, last_used_at: nullable(timestamp('When it was last used, to the minute')) },
  {
    description: 'An access token, without its secret.',
    examples: [
      {
        id: 'tok_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        ...example,
        user_id: null,
        expires_at: null,
        last_used_at: null,
        created_at: '2026-01-31T09:30:00.000Z',
        updated_at: '2026-01-31T09:30:00.000Z',
      },
    ],
  },
)
export const TokenCreated = object(
  { ...Token.properties, token: Type.String({ description: 'The token itself, shown only now.' }) },
  { description: 'A new token with its secret, which is shown only now.' },
)
export const TokenCreate = object({ ...needed, ...optional(settings) }, { description: 'A new token.', examples: [example] })
export const TokenUpdate = object(optional({ name: needed.name, expires_at: settings.expires_at }), {
  description: 'What to change of a token.',
  minProperties: 1,
  examples: [{ name: 'Weekly script' }],
})

export const tokens = {
  name: 'tokens',
  noun: 'token',
  path: '/tokens',
  prefix: 'tok',
  item: Token,
  resource: Token,
  create: TokenCreate,
  update: TokenUpdate,
  serverFields: ['last_used_at'],
} satisfies Family
export const tokenRoutes = crud(tokens, { read: 'administer', change: 'administer', revealsSecret: true }, TokenCreated)
