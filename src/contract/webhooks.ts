/** Webhooks: where other systems are told of events, as the Standard Webhooks specification says. */
import { Type } from 'typebox'
import { byId, crud, type Family } from './crud.ts'
import { listQuery } from './page.ts'
import { route } from './route.ts'
import { identifier, nullable, object, optional, resource, text, timestamp, webAddress, word } from './schema.ts'

export const WEBHOOK_EVENTS = ['conversation.completed', 'evaluation.finished', 'usage.threshold_exceeded'] as const

const url = webAddress('Where events are sent.')
const events = Type.Array(word(WEBHOOK_EVENTS, { description: 'An event.' }), { minItems: 1, uniqueItems: true, description: 'Events it is told of.' })
const settings = {
  description: text('What it is for.', 10_000),
  enabled: Type.Boolean({ default: true, description: 'Whether events are sent.' }),
  allow_private_network: Type.Boolean({ default: false, description: 'Whether it may reach addresses inside the private network.' }),
}
const example = { url: 'https://hooks.example.com/cadre', events: ['conversation.completed'], description: 'Tells the help desk' }

export const Webhook = resource(
  'webhook',
  { url, events, ...settings },
  {
    description: 'An address that is told of events.',
    examples: [
      {
        id: 'hook_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        ...example,
        enabled: true,
        allow_private_network: false,
        created_at: '2026-01-31T09:30:00.000Z',
        updated_at: '2026-01-31T09:30:00.000Z',
      },
    ],
  },
)
const secret = Type.String({
  pattern: '^whsec_[A-Za-z0-9+/]{32,100}={0,2}$',
  description: 'Signing secret: whsec_ and 24 to 64 bytes in base64. Shown once, on create.',
})
export const WebhookCreated = object({ ...Webhook.properties, secret }, { description: 'A new webhook with its signing secret, which is shown only now.' })
export const WebhookCreate = object(
  { url, events, ...optional({ ...settings, secret }) },
  { description: 'A new webhook; its secret is made when left out.', examples: [example] },
)
export const WebhookUpdate = object(optional({ url, events, ...settings }), {
  description: 'What to change of a webhook.',
  minProperties: 1,
  examples: [{ enabled: false }],
})

export const Delivery = object({
  id: identifier('the delivery'),
  event: word(WEBHOOK_EVENTS, { description: 'What happened.' }),
  status: word(['pending', 'delivered', 'failed'], { description: 'Where it stands.' }),
  attempts: Type.Integer({ minimum: 0, description: 'How often it was tried.' }),
  response_status: nullable(Type.Integer({ description: 'HTTP status of the last answer.' })),
  error: nullable(Type.String({ description: 'Why the last attempt failed.' })),
  next_attempt_at: nullable(timestamp('When it is tried again')),
  created_at: timestamp('When the event happened'),
})

export const webhooks = {
  name: 'webhooks',
  noun: 'webhook',
  path: '/webhooks',
  prefix: 'hook',
  item: Webhook,
  resource: Webhook,
  create: WebhookCreate,
  update: WebhookUpdate,
} satisfies Family

const action = { family: 'webhooks', params: byId('webhook'), access: 'administer' as const, reply: Delivery }
export const webhookRoutes = {
  ...crud(webhooks, { read: 'administer', change: 'administer', secretReply: true }, WebhookCreated),
  deliveries: route({
    ...action,
    id: 'webhooks.deliveries',
    method: 'GET',
    path: '/webhooks/{id}/deliveries',
    summary: 'List the deliveries of a webhook',
    query: listQuery(Delivery),
    shape: 'page',
  }),
  test: route({ ...action, id: 'webhooks.test', reachesOut: true, method: 'POST', path: '/webhooks/{id}/test', summary: 'Send a test event' }),
}
