/** Webhooks: where other systems are told of events, as the Standard Webhooks specification says. */
import { Type } from 'typebox'
import { crud, type Family, idParams } from '../crud.ts'
import { route } from '../route.ts'
import { httpUrl, identifier, jsonObject, nullable, object, optional, resource, stringEnum, text, timestamp } from '../schemas/fields.ts'
import { listQuery } from '../schemas/list-query.ts'

export const WEBHOOK_EVENTS = ['conversation.completed', 'evaluation.finished', 'usage.threshold_exceeded'] as const

const url = httpUrl('Where events are sent.')
const events = Type.Array(stringEnum(WEBHOOK_EVENTS, { description: 'An event.' }), {
  minItems: 1,
  uniqueItems: true,
  description: 'Events it is told of.',
})
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
export const WebhookCreated = object(
  { ...Webhook.properties, secret },
  { description: 'A new webhook with its signing secret, which is shown only now.' },
)
export const WebhookCreate = object(
  { url, events, ...optional({ ...settings, secret }) },
  { description: 'A new webhook; its secret is made when left out.', examples: [example] },
)
export const WebhookUpdate = object(optional({ url, events, ...settings }), {
  description: 'What to change of a webhook.',
  minProperties: 1,
  examples: [{ enabled: false }],
})

/** What is sent to try a webhook; nobody subscribes to it. */
export const TEST_EVENT = 'webhook.test'
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const

const delivery = {
  id: identifier('the delivery'),
  webhook_id: identifier('the webhook'),
  event_id: identifier('the event, which every attempt carries as its webhook-id'),
  event: stringEnum([...WEBHOOK_EVENTS, TEST_EVENT], { description: 'What happened.' }),
  status: stringEnum(DELIVERY_STATUSES, { description: 'Where it stands.' }),
  attempts: Type.Integer({ minimum: 0, description: 'How often it was tried.' }),
  response_status: nullable(Type.Integer({ description: 'HTTP status of the last answer.' })),
  error: nullable(Type.String({ description: 'Why the last attempt failed.' })),
  last_attempt_at: nullable(timestamp('When it was last tried')),
  next_attempt_at: nullable(timestamp('When it is tried again')),
  created_at: timestamp('When the event happened'),
}
const delivered = {
  id: 'dlv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  webhook_id: 'hook_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  event_id: 'evt_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  event: 'conversation.completed',
  status: 'delivered',
  attempts: 1,
  response_status: 204,
  error: null,
  last_attempt_at: '2026-01-31T09:30:00.000Z',
  next_attempt_at: null,
  created_at: '2026-01-31T09:30:00.000Z',
}
export const Delivery = object(delivery, { description: 'One event on its way to one webhook.', examples: [delivered] })
export const DeliveryDetails = object(
  {
    ...delivery,
    response_body: nullable(Type.String({ description: 'How the last answer begins.' })),
    history: Type.Array(
      object({
        at: timestamp('When it was tried'),
        response_status: nullable(Type.Integer({ description: 'HTTP status of the answer.' })),
        error: nullable(Type.String({ description: 'Why it failed.' })),
        latency_ms: Type.Integer({ minimum: 0, description: 'Milliseconds until the answer.' }),
      }),
      { description: 'The attempts, oldest first; of a great many the latest.' },
    ),
    body: object(
      {
        type: Type.String({ description: 'What happened.' }),
        timestamp: timestamp('When it happened'),
        data: jsonObject('What there is to know about it.'),
      },
      { description: 'What is sent.' },
    ),
  },
  { description: 'A delivery with every attempt and what is sent.' },
)
export const WebhookRotate = object(
  optional({
    secret,
    overlap_hours: Type.Integer({
      minimum: 0,
      maximum: 168,
      default: 24,
      description: 'For how many hours the secret before it signs as well. 0 when it became known to others.',
    }),
  }),
  { description: 'A new signing secret; it is made when left out.', examples: [{}] },
)

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

const action = { family: 'webhooks', params: idParams('webhook'), access: 'administer' as const }
const one = {
  ...action,
  params: object({ id: identifier('the webhook'), delivery_id: identifier('the delivery') }),
  response: DeliveryDetails,
}
export const webhookRoutes = {
  ...crud(webhooks, { read: 'administer', change: 'administer', revealsSecret: true }, WebhookCreated),
  rotateSecret: route({
    ...action,
    id: 'webhooks.rotate-secret',
    method: 'POST',
    path: '/webhooks/{id}/rotate-secret',
    summary: 'Give a webhook a new signing secret',
    description: 'The new secret is shown only now. The one before it signs as well for a day, so that the receiver can change over.',
    body: WebhookRotate,
    response: WebhookCreated,
    revealsSecret: true,
  }),
  deliveries: route({
    ...action,
    id: 'webhooks.deliveries',
    method: 'GET',
    path: '/webhooks/{id}/deliveries',
    summary: 'List the deliveries of a webhook',
    query: listQuery(object(withoutWebhook(delivery))),
    response: Delivery,
    shape: 'page',
  }),
  delivery: route({
    ...one,
    id: 'webhooks.delivery',
    method: 'GET',
    path: '/webhooks/{id}/deliveries/{delivery_id}',
    summary: 'Get a delivery',
  }),
  redeliver: route({
    ...one,
    id: 'webhooks.redeliver',
    callsExternalService: true,
    method: 'POST',
    path: '/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    summary: 'Deliver an event again',
    description:
      'Tries it now, whatever became of it, and answers how that went. If it fails, it is tried again on the schedule of a new event.',
  }),
  test: route({
    ...action,
    id: 'webhooks.test',
    callsExternalService: true,
    method: 'POST',
    path: '/webhooks/{id}/test',
    summary: 'Send a test event',
    description:
      'Sends a signed event of the type webhook.test now, once, and answers how that went. It works while the webhook is disabled, too.',
    response: DeliveryDetails,
  }),
  events: route({
    family: 'webhooks',
    id: 'events.follow',
    method: 'GET',
    path: '/events',
    summary: 'Follow events as they happen',
    description:
      'Server-Sent Events named after what happened, each with {id, type, timestamp, data}; the first is `ready`. Give the id of the last one as `after`, or as Last-Event-ID, to go on behind it: events are kept for 30 days.',
    access: 'administer',
    query: object(
      optional({
        after: Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'The stream id behind which to begin; left out: now.',
        }),
        types: Type.String({
          maxLength: 500,
          description: 'Only these types of events, separated by commas.',
          examples: [WEBHOOK_EVENTS.join(',')],
        }),
      }),
    ),
    response: Type.String(),
    shape: 'events',
  }),
}

function withoutWebhook({ webhook_id: _, ...fields }: typeof delivery) {
  return fields
}
