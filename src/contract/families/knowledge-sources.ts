/** Knowledge sources: where documents come from. */
import { type Static, type TObject, Type } from 'typebox'
import { createAction, createCrudRoutes, createFamily, idParams, updateBody } from '../crud.ts'
import { route } from '../route.ts'
import { ErrorEvent } from '../schemas/error-event.ts'
import {
  count,
  createExample,
  flag,
  formatSchemaName,
  namedObject,
  nullable,
  object,
  optional,
  pick,
  resource,
  resourceName,
  stringEnum,
  text,
  timestamp,
} from '../schemas/fields.ts'
import {
  SOURCE_CONFIGURATIONS,
  SOURCE_TYPES,
  type SourceAuth,
  type SourceConfiguration,
  type SourceType,
  sourceAuth,
  sourceConfiguration,
} from '../schemas/source-configurations.ts'

export type SyncProgress = Static<typeof SyncProgress>
export const SyncProgress = namedObject('SyncProgress', 'Progress of a sync.', {
  stage: stringEnum(['finding', 'reading', 'embedding', 'recognizing'], { description: 'Current stage.' }),
  documents: count('Number of documents found, read or recognised so far.'),
  documents_total: nullable(count('Number of documents to read or recognise; null while finding documents.')),
  chunks: count('Number of passages embedded so far.'),
  chunks_total: count('Number of passages to embed, as known so far.'),
  started_at: timestamp('Start time'),
})

export type SyncChanges = Static<typeof SyncChanges>
export const SyncChanges = namedObject('SyncChanges', 'Changes made by a sync.', {
  read: count('Number of documents read because they are new or changed, or because a tool needs different chunking.'),
  unreadable: count('Number of documents that could not be read.'),
  gone: count('Number of documents removed from the source.'),
  embedded: count('Number of passages embedded.'),
})

export const SourceStatistics = namedObject('SourceStatistics', 'Statistics of a knowledge source.', {
  documents: count('Number of documents.'),
  chunks: count('Number of passages.'),
  failed: count('Number of documents that could not be read.'),
  skipped: count('Number of skipped files, which are not documents.'),
  skipped_types: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
    description: 'Number of skipped files by type.',
    examples: [{ heic: 2, mp3: 1 }],
  }),
  embedded: count('Number of embedded passages.'),
  recognizing: count('Number of images and scans that wait for text recognition.'),
})

export const SourceWatch = namedObject('SourceWatch', 'How changes of a watched folder are found.', {
  mode: stringEnum(['events', 'polling'], {
    description: 'events: the system reports changes; polling: the folder is listed at intervals of at least 30 seconds.',
  }),
  reason: nullable(Type.String({ description: 'Why the folder is polled.' })),
})

const name = resourceName('knowledge source')
const type = stringEnum(SOURCE_TYPES, { description: 'Type of the knowledge source.' })
const status = stringEnum(['pending', 'syncing', 'active', 'error'], {
  default: 'pending',
  description:
    'Sync status. pending: waits for a sync; syncing: a sync is running; active: the last sync succeeded; error: the last sync failed.',
})
const error = nullable(Type.String({ description: 'Error message if the last sync failed.' }))
const authType = object(
  { type: stringEnum(['none', 'bearer', 'basic'], { description: 'Type of authentication.' }) },
  { title: 'SourceAuth', default: { type: 'none' }, description: 'Authentication, without secret values.' },
)
const MAX_DESCRIPTION_LENGTH = 1_000
const MAX_DESCRIBED_FOLDERS = 500
/** What the documents are about. Returned with passages, so that models and other programs know what they read. */
const descriptions = {
  description: text('What the documents are about, for models and programs that read their passages.', MAX_DESCRIPTION_LENGTH),
  folder_descriptions: Type.Unsafe<Record<string, string>>({
    type: 'object',
    maxProperties: MAX_DESCRIBED_FOLDERS,
    additionalProperties: Type.String({ minLength: 1, maxLength: MAX_DESCRIPTION_LENGTH, pattern: '\\S' }),
    description: 'What the documents of a folder are about, by the path of the folder within the source, such as policies/leave.',
    examples: [{ hr: 'Rules on leave and pay, checked by the legal department.' }],
  }),
}
const last_sync = nullable(timestamp('Time of the last sync'))
const example = { name: 'Handbook', type: 'file', configuration: { file_types: ['pdf', 'txt', 'md'], max_file_size: 10_485_760 } }

const fields = {
  name,
  ...descriptions,
  type,
  status,
  error,
  last_sync,
  configuration: sourceConfiguration,
  auth: authType,
  statistics: SourceStatistics,
  progress: nullable(SyncProgress),
  watching: nullable(SourceWatch),
}
export type KnowledgeSource = Static<typeof KnowledgeSource>
export const KnowledgeSource = resource('knowledge source', fields, {
  description: 'A source of documents.',
  examples: [
    createExample('ks', example, fields, {
      description: 'Rules for all staff.',
      folder_descriptions: { hr: 'Rules on leave and pay.' },
      statistics: { documents: 0, chunks: 0, failed: 0, skipped: 0, skipped_types: {}, embedded: 0, recognizing: 0 },
    }),
  ],
})
const KnowledgeSourceItem = namedObject(
  'KnowledgeSourceItem',
  'A knowledge source in a list.',
  pick(KnowledgeSource.properties, ['id', 'name', 'type', 'status', 'last_sync', 'created_at']),
)

/** One schema per type, discriminated by `type`, so that a validation error names the invalid field. */
const createSchemaOfType = (sourceType: SourceType): TObject => {
  const configuration = SOURCE_CONFIGURATIONS[sourceType]
  const isOptional = (configuration as { required?: string[] }).required === undefined
  return namedObject(`${formatSchemaName(`${sourceType} source`)}Create`, `A new knowledge source of type ${sourceType}.`, {
    name,
    type: Type.Literal(sourceType, { description: 'Type of the knowledge source.' }),
    ...optional(descriptions),
    configuration: isOptional ? Type.Optional(configuration) : configuration,
    ...(sourceType === 'git' ? { auth: Type.Optional(sourceAuth) } : {}),
  })
}
export const KnowledgeSourceCreate = Type.Unsafe<{
  name: string
  description?: string
  folder_descriptions?: Record<string, string>
  type: SourceType
  configuration?: SourceConfiguration
  auth?: SourceAuth
}>({
  type: 'object',
  title: 'KnowledgeSourceCreate',
  description: 'A new knowledge source.',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: SOURCE_TYPES.map(createSchemaOfType),
  examples: [example],
})
export const KnowledgeSourceUpdate = updateBody(
  'knowledge source',
  { name, ...descriptions, configuration: sourceConfiguration, auth: sourceAuth },
  { name: 'Staff handbook' },
  ' configuration and folder_descriptions replace the existing values.',
)

export const knowledgeSources = createFamily({
  name: 'knowledge-sources',
  noun: 'knowledge source',
  prefix: 'ks',
  item: KnowledgeSourceItem,
  resource: KnowledgeSource,
  create: KnowledgeSourceCreate,
  update: KnowledgeSourceUpdate,
  serverFields: ['status', 'error', 'last_sync', 'statistics', 'progress', 'watching'],
})

const SYNC_EVENTS = {
  progress: SyncProgress,
  sync_end: namedObject('SyncEndEvent', 'Data of `sync_end`: the knowledge source, and what the last sync changed.', {
    ...KnowledgeSource.properties,
    changes: Type.Optional(SyncChanges),
  }),
  error: ErrorEvent,
}

const source = { family: 'knowledge-sources', params: idParams('knowledge source') }
export const knowledgeSourceRoutes = {
  ...createCrudRoutes(knowledgeSources, { read: 'read', change: 'write' }),
  sync: route({
    ...createAction(knowledgeSources, 'sync'),
    callsModel: true,
    summary: 'Sync a knowledge source',
    description: 'Starts a sync and returns immediately. Follow it by its status or its events.',
    access: 'write',
    query: object(
      optional({
        recognize_again: flag('Whether to recognise images and scans again that were recognised in other languages than the present ones.'),
      }),
    ),
    response: KnowledgeSource,
  }),
  cancelSync: route({
    ...source,
    id: 'knowledge-sources.cancel-sync',
    method: 'DELETE',
    path: '/knowledge-sources/{id}/sync',
    summary: 'Cancel a sync',
    description: 'Keeps the work done so far; the next sync continues from there.',
    access: 'write',
    response: KnowledgeSource,
    shape: 'message',
  }),
  syncEvents: route({
    ...source,
    id: 'knowledge-sources.sync-events',
    method: 'GET',
    path: '/knowledge-sources/{id}/sync/events',
    summary: 'Follow a sync',
    description:
      'Streams progress events, then one sync_end event with the knowledge source and the `changes` of the last sync ' +
      '(read, unreadable, gone, embedded), or one error event. `changes` is absent if there was no sync since the daemon started.',
    access: 'read',
    response: Type.String(),
    shape: 'events',
    events: SYNC_EVENTS,
  }),
}
