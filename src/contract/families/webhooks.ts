/** Webhooks, their deliveries and the event stream, according to the Standard Webhooks specification. */
import { type Static, Type } from 'typebox'
import { createAction, createBody, createCrudRoutes, createFamily, updateBody } from '../crud.ts'
import { route } from '../route.ts'
import {
  count,
  createExample,
  flag,
  httpUrl,
  identifier,
  integer,
  jsonObject,
  namedObject,
  nullable,
  object,
  optional,
  resource,
  stringEnum,
  text,
  timestamp,
} from '../schemas/fields.ts'
import { listQuery } from '../schemas/list-query.ts'
import { STREAMED_EVENTS, WEBHOOK_EVENTS } from '../webhook-events.ts'

const url = httpUrl('URL that receives the events.')
const events = Type.Array(stringEnum(WEBHOOK_EVENTS, { description: 'Type of an event.' }), {
  minItems: 1,
  uniqueItems: true,
  description: 'Event types to send.',
})
const settings = {
  description: text('Description of the webhook.', 10_000),
  enabled: flag('Whether the webhook is enabled.', true),
  allow_private_network: flag('Whether the URL may be in a private network.', false),
}
const example = { url: 'https://hooks.example.com/cadre', events: ['conversation.completed'], description: 'Notifies the help desk' }

export const Webhook = resource(
  'webhook',
  { url, events, ...settings },
  {
    description: 'A URL that receives events.',
    examples: [createExample('hook', { ...example, enabled: true, allow_private_network: false })],
  },
)
const secret = Type.String({
  pattern: '^whsec_[A-Za-z0-9+/]{32,100}={0,2}$',
  description: 'Signing secret: whsec_ and 24 to 64 bytes in base64. It is returned only once.',
})
export const WebhookCreated = namedObject('WebhookCreated', 'A webhook with its signing secret, which is returned only once.', {
  ...Webhook.properties,
  secret,
})
export const WebhookCreate = createBody(
  'webhook',
  { url, events },
  { ...settings, secret },
  example,
  ' Without secret, a secret is generated.',
)
const WebhookUpdate = updateBody('webhook', { url, events, ...settings }, { enabled: false })

/** The event of test deliveries. Webhooks cannot subscribe to it. */
export const TEST_EVENT = 'webhook.test'
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const

const delivery = {
  id: identifier('the delivery'),
  webhook_id: identifier('the webhook'),
  event_id: identifier('the event, which every attempt sends as webhook-id'),
  event: stringEnum([...WEBHOOK_EVENTS, TEST_EVENT], { description: 'Type of the event.' }),
  status: stringEnum(DELIVERY_STATUSES, { description: 'Delivery status.' }),
  attempts: count('Number of attempts.'),
  response_status: nullable(Type.Integer({ description: 'HTTP status of the last response.' })),
  error: nullable(Type.String({ description: 'Error message of the last attempt.' })),
  last_attempt_at: nullable(timestamp('Time of the last attempt')),
  next_attempt_at: nullable(timestamp('Time of the next attempt')),
  created_at: timestamp('Time of the event'),
}
const exampleDelivery = {
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
export const Delivery = namedObject('Delivery', 'Delivery of an event to a webhook.', delivery, [exampleDelivery])
const DeliveryAttempt = namedObject('DeliveryAttempt', 'An attempt to deliver an event.', {
  at: timestamp('Time of the attempt'),
  response_status: nullable(Type.Integer({ description: 'HTTP status of the response.' })),
  error: nullable(Type.String({ description: 'Error message.' })),
  latency_ms: count('Latency of the response, in milliseconds.'),
})
export type DeliveryDetails = Static<typeof DeliveryDetails>
export const DeliveryDetails = namedObject('DeliveryDetails', 'A delivery with its attempts and its request body.', {
  ...delivery,
  response_body: nullable(Type.String({ description: 'Start of the last response.' })),
  history: Type.Array(DeliveryAttempt, { description: 'Latest attempts, oldest first.' }),
  body: namedObject('DeliveryBody', 'Request body.', {
    type: Type.String({ description: 'Type of the event.' }),
    timestamp: timestamp('Time of the event'),
    data: jsonObject('Data of the event.'),
  }),
})
export const WebhookRotate = namedObject(
  'SecretRotation',
  'A new signing secret. Without secret, a secret is generated.',
  optional({
    secret,
    overlap_hours: integer('Hours during which the previous secret also signs. Use 0 if it was leaked.', {
      minimum: 0,
      maximum: 168,
      default: 24,
    }),
  }),
  [{}],
)

export const webhooks = createFamily({
  name: 'webhooks',
  noun: 'webhook',
  prefix: 'hook',
  resource: Webhook,
  create: WebhookCreate,
  update: WebhookUpdate,
})

const { webhook_id: _, ...deliveryFilters } = delivery
const oneDelivery = {
  family: 'webhooks',
  access: 'admin' as const,
  params: object({ id: identifier('the webhook'), delivery_id: identifier('the delivery') }),
  response: DeliveryDetails,
}
export const webhookRoutes = {
  ...createCrudRoutes(webhooks, { read: 'admin', change: 'admin', revealsSecret: 'secret' }, WebhookCreated),
  rotateSecret: route({
    ...createAction(webhooks, 'rotate-secret'),
    summary: 'Rotate the signing secret of a webhook',
    access: 'admin',
    description: 'The new secret is returned only once. The previous secret also signs for overlap_hours.',
    body: WebhookRotate,
    response: WebhookCreated,
    revealsSecret: 'secret',
    changesResource: true,
  }),
  deliveries: route({
    ...createAction(webhooks, 'deliveries', 'GET'),
    summary: 'List deliveries of a webhook',
    access: 'admin',
    query: listQuery(object(deliveryFilters)),
    response: Delivery,
    shape: 'page',
  }),
  delivery: route({
    ...oneDelivery,
    id: 'webhooks.delivery',
    method: 'GET',
    path: '/webhooks/{id}/deliveries/{delivery_id}',
    summary: 'Get a delivery',
  }),
  redeliver: route({
    ...oneDelivery,
    id: 'webhooks.redeliver',
    callsExternalService: true,
    method: 'POST',
    path: '/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    summary: 'Redeliver an event',
    description: 'Attempts the delivery and returns the result. A failed attempt is retried like a new event.',
  }),
  test: route({
    ...createAction(webhooks, 'test'),
    callsExternalService: true,
    summary: 'Send a test event',
    access: 'admin',
    description: 'Sends one signed event of type webhook.test and returns the result. Also works for disabled webhooks.',
    response: DeliveryDetails,
  }),
  events: route({
    family: 'webhooks',
    id: 'events.follow',
    method: 'GET',
    path: '/events',
    summary: 'Follow events',
    description:
      'Streams server-sent events named by type, with {id, type, timestamp, data}. The first event is `ready`. ' +
      'Send the id of the last event as `after` or Last-Event-ID to resume. Events are kept for 30 days.',
    access: 'admin',
    query: object(
      optional({
        after: integer('Return events after this stream id. Default: only new events.', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
        types: Type.String({
          maxLength: 500,
          description: 'Event types, separated by commas. Default: all.',
          examples: [WEBHOOK_EVENTS.join(',')],
        }),
      }),
    ),
    response: Type.String(),
    shape: 'events',
    events: STREAMED_EVENTS,
    isResumable: true,
  }),
}
