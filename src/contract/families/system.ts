/** Health, status and settings of the service itself. */
import { Type } from 'typebox'
import { route } from '../route.ts'
import { identifier, object, optional, stringEnum } from '../schemas/fields.ts'

const connection = stringEnum(['connected', 'disconnected'], { description: 'Whether it can be read.' })
const bytes = (description: string) => Type.Integer({ minimum: 0, description: `${description}, in bytes.` })

export const Health = object(
  {
    status: stringEnum(['healthy', 'unhealthy'], { description: 'healthy when both stores can be read.' }),
    version: Type.String({ description: 'Version of the service.' }),
    database: connection,
    vector_db: connection,
  },
  {
    description: 'Health record, without the envelope.',
    examples: [{ status: 'healthy', version: '0.1.0', database: 'connected', vector_db: 'connected' }],
  },
)

export const Status = object(
  {
    version: Type.String({ description: 'Version of the service.' }),
    uptime_seconds: Type.Number({ minimum: 0, description: 'How long it has been running.' }),
    started_at: Type.String({ format: 'date-time', description: 'When it was started.' }),
    pid: Type.Integer({ description: 'Its process.' }),
    home: Type.String({ description: 'Where it keeps its state.' }),
    address: Type.String({ description: 'Where it listens.' }),
    counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'How many resources of each family there are.' }),
    sizes: object({
      database: bytes('Records'),
      vectors: bytes('Vectors'),
      documents: bytes('Originals of documents'),
      logs: bytes('Logs'),
    }),
    queues: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'Work that waits.' }),
    embedding_model: Type.String({ description: 'Embedding model that is used by default.' }),
    secrets: stringEnum(['keychain', 'file', 'locked'], {
      description: "Where the vault's key is kept; locked when the keychain that holds it cannot be reached.",
    }),
    memory: object({ rss: bytes('Resident memory'), heap_used: bytes('Used heap') }),
  },
  { description: 'State of the service.' },
)

const default_model_id = identifier('the model that agents and RAG tools use when they name none')
const conversation_idle_minutes = Type.Integer({
  minimum: 0,
  maximum: 5_256_000,
  description: 'Minutes after which a conversation in which nothing was said completes by itself; 0 is never.',
})
export const Settings = object(
  { default_model_id, conversation_idle_minutes },
  {
    description: 'Settings of the service.',
    examples: [{ default_model_id: 'model_00000000-0000-7000-8000-000000000001', conversation_idle_minutes: 1_440 }],
  },
)

export const systemRoutes = {
  health: route({
    id: 'system.health',
    family: 'system',
    method: 'GET',
    path: '/health',
    summary: 'Health of the service',
    description: 'Needs no token. 503 when a store cannot be read.',
    access: 'open',
    response: Health,
    shape: 'bare',
    unhealthyStatus: 503,
  }),
  status: route({
    id: 'system.status',
    family: 'system',
    method: 'GET',
    path: '/status',
    summary: 'State of the service',
    access: 'read',
    response: Status,
  }),
  openapi: route({
    id: 'system.openapi',
    family: 'system',
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description',
    access: 'open',
    response: Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: 'An OpenAPI 3.1 document.' }),
    shape: 'bare',
  }),
  getSettings: route({
    id: 'settings.get',
    family: 'system',
    method: 'GET',
    path: '/settings',
    summary: 'Get the settings',
    access: 'read',
    response: Settings,
  }),
  updateSettings: route({
    id: 'settings.update',
    family: 'system',
    method: 'PUT',
    path: '/settings',
    summary: 'Change the settings',
    access: 'change',
    body: object(optional({ default_model_id, conversation_idle_minutes }), {
      minProperties: 1,
      examples: [{ default_model_id: 'model_00000000-0000-7000-8000-000000000001' }],
    }),
    response: Settings,
  }),
}
