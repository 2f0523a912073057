/** Health, status and settings of the daemon. */
import { type Static, Type } from 'typebox'
import { route } from '../route.ts'
import { currency } from '../schemas/currency.ts'
import { count, identifier, integer, namedObject, nullable, object, optional, stringEnum, timestamp } from '../schemas/fields.ts'

const connection = stringEnum(['connected', 'disconnected'], { description: 'Whether the store can be read.' })
const bytes = (description: string) => count(`${description}, in bytes.`)

export type Health = Static<typeof Health>
export const Health = namedObject(
  'Health',
  'Health of the daemon, without the envelope.',
  {
    status: stringEnum(['healthy', 'unhealthy'], { description: 'healthy if both stores can be read.' }),
    version: Type.String({ description: 'Version of Cadre.' }),
    database: connection,
    vector_db: connection,
  },
  [{ status: 'healthy', version: '0.1.0', database: 'connected', vector_db: 'connected' }],
)

const hexadecimal = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description })

const Liveness = namedObject(
  'Liveness',
  'Liveness of the daemon, without the envelope.',
  {
    status: stringEnum(['live'], { description: 'The daemon responds.' }),
    proof: Type.Optional(hexadecimal('The HMAC-SHA256 of the challenge with the secret in `daemon.json`.')),
  },
  [{ status: 'live' }],
)
const Challenge = object({
  challenge: Type.Optional(hexadecimal('32 random bytes. The response then proves that it comes from the daemon of the home.')),
})

export type Readiness = Static<typeof Readiness>
export const Readiness = namedObject(
  'Readiness',
  'Readiness of the daemon, without the envelope.',
  {
    status: stringEnum(['ready', 'not_ready'], { description: 'ready if both stores respond.' }),
    database: connection,
    vector_db: connection,
  },
  [{ status: 'ready', database: 'connected', vector_db: 'connected' }],
)

export type Status = Static<typeof Status>
export const Status = namedObject('Status', 'Status of the daemon.', {
  version: Type.String({ description: 'Version of Cadre.' }),
  uptime_seconds: Type.Number({ minimum: 0, description: 'Time since the start, in seconds.' }),
  started_at: Type.String({ format: 'date-time', description: 'Start time.' }),
  pid: Type.Integer({ description: 'Process ID.' }),
  home: Type.String({ description: 'Path of the home folder.' }),
  address: Type.String({ description: 'URL of the daemon.' }),
  counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'Number of resources by family.' }),
  database: namedObject('DatabaseStatus', 'Where the records are stored.', {
    location: Type.String({ description: 'Path of the file, or URL of the libSQL server.' }),
    latency_ms: Type.Number({ minimum: 0, description: 'Duration of a query, in milliseconds.' }),
  }),
  storage: namedObject('StorageStatus', 'Where documents and vectors are stored.', {
    location: Type.String({ description: 'Path of the home, or URL of the bucket.' }),
    latency_ms: nullable(Type.Number({ minimum: 0, description: 'Duration of a request, in milliseconds; null if it cannot be reached.' })),
  }),
  sizes: namedObject('StorageSizes', 'Sizes of the stored data.', {
    database: bytes('Size of the records in the home; 0 if they are on a libSQL server'),
    vectors: bytes('Size of the vectors in the home; 0 if they are in a bucket'),
    documents: bytes('Size of the originals of documents in the home; 0 if they are in a bucket'),
    logs: bytes('Size of the logs'),
  }),
  queues: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
    description: 'Number of waiting or running jobs by queue: texts to embed, and replies.',
  }),
  embedding_model: Type.String({ description: 'Default embedding model.' }),
  secrets: stringEnum(['keychain', 'file', 'environment', 'locked'], {
    description: "Location of the vault's key; locked if its keychain is not available.",
  }),
  last_backup_at: nullable(timestamp('Time of the last backup; null if there is none')),
  memory: namedObject('MemoryUsage', 'Memory of the daemon.', { rss: bytes('Resident memory'), heap_used: bytes('Used heap') }),
})

const default_model_id = identifier('the default model of agents and RAG tools')
const conversation_idle_minutes = integer('Minutes without messages after which a conversation is completed; 0 disables it.', {
  minimum: 0,
  maximum: 5_256_000,
})
const daily_backups = integer('Number of daily backups to keep in the folder `backups` of the home; 0 disables daily backups.', {
  minimum: 0,
  maximum: 365,
})
export type Settings = Static<typeof Settings>
export const Settings = namedObject(
  'Settings',
  'Settings of the daemon.',
  { default_model_id, conversation_idle_minutes, daily_backups, currency },
  [
    {
      default_model_id: 'model_00000000-0000-7000-8000-000000000001',
      conversation_idle_minutes: 1_440,
      daily_backups: 0,
      currency: 'USD',
    },
  ],
)

const publicRoute = { family: 'system', method: 'GET', access: 'public', shape: 'bare' } as const

export const systemRoutes = {
  health: route({
    ...publicRoute,
    id: 'system.health',
    path: '/health',
    summary: 'Get the health of the daemon',
    description: 'Requires no token. Returns 503 if a store cannot be read.',
    response: Health,
    unhealthyStatus: 503,
  }),
  live: route({
    ...publicRoute,
    id: 'system.live',
    path: '/health/live',
    summary: 'Get the liveness of the daemon',
    description: 'Requires no token. Returns 200 from the start to the end of the process, whatever the state of the stores.',
    query: Challenge,
    response: Liveness,
    isAnsweredWhileStopping: true,
  }),
  ready: route({
    ...publicRoute,
    id: 'system.ready',
    path: '/health/ready',
    summary: 'Get the readiness of the daemon',
    description:
      'Requires no token. Returns 503 while the daemon starts or stops, or if a store does not respond. The stores are checked at most ' +
      'once a second.',
    response: Readiness,
    unhealthyStatus: 503,
  }),
  status: route({
    id: 'system.status',
    family: 'system',
    method: 'GET',
    path: '/status',
    summary: 'Get the status of the daemon',
    access: 'read',
    response: Status,
  }),
  metrics: route({
    id: 'system.metrics',
    family: 'system',
    method: 'GET',
    path: '/metrics',
    summary: 'Get the metrics of the daemon',
    description: 'In the text format of Prometheus.',
    access: 'admin',
    response: Type.String({ description: 'Metrics in the text format of Prometheus.' }),
    shape: 'text',
  }),
  openapi: route({
    ...publicRoute,
    id: 'system.openapi',
    path: '/openapi.json',
    summary: 'Get the OpenAPI document',
    response: Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: 'An OpenAPI 3.1 document.' }),
  }),
  getSettings: route({
    id: 'settings.get',
    family: 'system',
    method: 'GET',
    path: '/settings',
    summary: 'Get the settings',
    // Everybody who sees costs needs their currency.
    access: 'any',
    response: Settings,
  }),
  updateSettings: route({
    id: 'settings.update',
    family: 'system',
    method: 'PUT',
    path: '/settings',
    summary: 'Update the settings',
    access: 'write',
    body: namedObject(
      'SettingsUpdate',
      'Settings to change.',
      optional({ default_model_id, conversation_idle_minutes, daily_backups, currency }),
      [{ default_model_id: 'model_00000000-0000-7000-8000-000000000001' }],
    ),
    response: Settings,
  }),
}
