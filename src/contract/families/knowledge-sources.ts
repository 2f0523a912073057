/** Knowledge sources: where documents come from, and how each kind is configured. */
import { type TObject, type TSchema, Type } from 'typebox'
import { crud, type Family, idParams } from '../crud.ts'
import { route } from '../route.ts'
import { basicAuth, bearerAuth, noAuth } from '../schemas/auth.ts'
import { httpUrl, nullable, object, optional, resource, resourceName, stringEnum, timestamp } from '../schemas/fields.ts'

export const SOURCE_TYPES = ['file', 'folder', 'url', 'git', 'text'] as const
export type SourceType = (typeof SOURCE_TYPES)[number]

/** What is read when a source does not say which file types it wants. */
export const DEFAULT_FILE_TYPES = [
  'md',
  'markdown',
  'txt',
  'rst',
  'html',
  'htm',
  'pdf',
  'docx',
  'csv',
  'tsv',
  'json',
  'jsonl',
  'yaml',
  'yml',
  'toml',
  'xml',
  'epub',
  'js',
  'mjs',
  'cjs',
  'ts',
  'tsx',
  'jsx',
  'py',
  'go',
  'rs',
  'java',
  'kt',
  'c',
  'h',
  'cc',
  'cpp',
  'hpp',
  'cs',
  'rb',
  'php',
  'swift',
  'scala',
  'sh',
  'sql',
  'css',
  'lua',
  'r',
] as const
export const DEFAULT_MAX_FILE_SIZE = 50 * 1024 * 1024

const path = Type.String({ minLength: 1, maxLength: 4_096, pattern: '^[^\\u0000]+$', description: "A path on the daemon's disk." })
const glob = Type.String({ minLength: 1, maxLength: 1_000, description: 'A glob such as **/*.md.' })
const files = {
  file_types: Type.Array(Type.String({ pattern: '^[A-Za-z0-9]{1,16}$', description: 'A file extension without its dot.' }), {
    minItems: 1,
    maxItems: 200,
    uniqueItems: true,
    description: 'File types that are read.',
    examples: [['pdf', 'txt', 'md']],
  }),
  max_file_size: Type.Integer({ minimum: 1, maximum: 1024 ** 3, description: 'Largest file, in bytes.' }),
}
const schedule = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'When it is synchronized by itself, as a cron expression of five fields.',
  examples: ['0 3 * * *'],
})
const globs = {
  include: Type.Array(glob, { maxItems: 200, description: 'Only paths that match one of these.' }),
  exclude: Type.Array(glob, { maxItems: 200, description: 'No paths that match one of these.' }),
}

const allow_private_network = Type.Boolean({
  default: false,
  description: 'Whether addresses inside the private network may be read. Admins only.',
})

/** The configuration each type of source takes. */
export const SOURCE_CONFIGURATIONS = {
  file: object(
    optional({
      ...files,
      paths: Type.Array(path, {
        maxItems: 1_000,
        description: "Files and folders on the daemon's disk, beside the documents that are sent to it.",
      }),
      schedule,
    }),
  ),
  folder: object({
    path,
    ...optional({
      ...globs,
      ...files,
      gitignore: Type.Boolean({ default: true, description: 'Whether .gitignore is respected.' }),
      watch: Type.Boolean({ default: false, description: 'Whether changes are picked up as they happen.' }),
      schedule,
    }),
  }),
  url: object({
    url: httpUrl('Page, site or sitemap to read.'),
    ...optional({
      mode: stringEnum(['page', 'site', 'sitemap'], {
        default: 'page',
        description: 'One page, the pages it links to on its site, or those of a sitemap.',
      }),
      max_depth: Type.Integer({ minimum: 0, maximum: 10, description: 'How many links deep a site is read.' }),
      max_pages: Type.Integer({ minimum: 1, maximum: 10_000, description: 'Most pages that are read.' }),
      allow_private_network,
      schedule,
    }),
  }),
  git: object({
    repository: Type.String({
      minLength: 1,
      maxLength: 2_000,
      pattern: '^[^\\u0000-\\u001f]+$',
      description: "Address of a repository, or its path on the daemon's disk. A login goes to `auth`, not into the address.",
    }),
    ...optional({
      branch: Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_./-]*$',
        description: 'Branch or tag to read.',
      }),
      ...globs,
      ...files,
      allow_private_network,
      schedule,
    }),
  }),
  text: object({ text: Type.String({ minLength: 1, maxLength: 900_000, description: 'The text itself.' }) }),
} satisfies Record<SourceType, TSchema>

export type SourceAuth = { type: 'none' } | { type: 'bearer'; token: string } | { type: 'basic'; username: string; password: string }
const auth = Type.Unsafe<SourceAuth>({
  type: 'object',
  description: 'How it proves who it is to the server of its repository, over http and https. The values are write-only.',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: [noAuth, bearerAuth, basicAuth],
  examples: [{ type: 'basic', username: 'git', password: '<TOKEN>' }],
})

export type SourceConfiguration = Record<string, unknown>
const Configuration = Type.Unsafe<SourceConfiguration>({
  type: 'object',
  description: 'How it is read; the fields depend on the type.',
  additionalProperties: true,
  examples: [{ file_types: ['pdf', 'txt', 'md'], max_file_size: 10_485_760 }],
})

export const SyncProgress = object(
  {
    stage: stringEnum(['finding', 'reading', 'embedding'], { description: 'What is being done.' }),
    documents: Type.Integer({ minimum: 0, description: 'Documents found or read so far.' }),
    documents_total: nullable(Type.Integer({ minimum: 0, description: 'Documents to read; null while they are being found.' })),
    chunks: Type.Integer({ minimum: 0, description: 'Passages embedded so far.' }),
    chunks_total: Type.Integer({ minimum: 0, description: 'Passages to embed, as far as is known.' }),
    started_at: timestamp('When it began'),
  },
  { description: 'How far a synchronization is.' },
)

export const SyncChanges = object(
  {
    read: Type.Integer({
      minimum: 0,
      description: 'Documents that were read, because they are new or changed, or a tool wants them cut another way.',
    }),
    unreadable: Type.Integer({ minimum: 0, description: 'Documents that were to be read and could not be.' }),
    gone: Type.Integer({ minimum: 0, description: 'Documents that were there before and are no more.' }),
    embedded: Type.Integer({ minimum: 0, description: 'Passages that were embedded.' }),
  },
  { description: 'What a synchronization came to.' },
)

export const SourceStatistics = object(
  {
    documents: Type.Integer({ minimum: 0, description: 'Documents it holds.' }),
    chunks: Type.Integer({ minimum: 0, description: 'Passages they were cut into.' }),
    failed: Type.Integer({ minimum: 0, description: 'Documents that could not be read.' }),
    embedded: Type.Integer({ minimum: 0, description: 'Passages whose vectors are ready.' }),
  },
  { description: 'What it holds, in numbers.' },
)

const name = resourceName('knowledge source')
const type = stringEnum(SOURCE_TYPES, { description: 'Where its documents come from.' })
const status = stringEnum(['pending', 'syncing', 'active', 'error'], {
  default: 'pending',
  description: 'Where its synchronization stands.',
})
const error = nullable(Type.String({ description: 'Why the last synchronization failed.' }))
const shownAuth = object(
  { type: stringEnum(['none', 'bearer', 'basic'], { description: 'How it proves who it is.' }) },
  { default: { type: 'none' }, description: 'Authentication, without its values.' },
)
const last_sync = nullable(timestamp('When it was last synchronized'))
const example = { name: 'Handbook', type: 'file', configuration: { file_types: ['pdf', 'txt', 'md'], max_file_size: 10_485_760 } }

export const KnowledgeSource = resource(
  'knowledge source',
  {
    name,
    type,
    status,
    error,
    last_sync,
    configuration: Configuration,
    auth: shownAuth,
    statistics: SourceStatistics,
    progress: nullable(SyncProgress),
  },
  {
    description: 'A place documents come from.',
    examples: [
      {
        id: 'ks_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        ...example,
        status: 'pending',
        error: null,
        last_sync: null,
        auth: { type: 'none' },
        statistics: { documents: 0, chunks: 0, failed: 0, embedded: 0 },
        progress: null,
        created_at: '2026-01-31T09:30:00.000Z',
        updated_at: '2026-01-31T09:30:00.000Z',
      },
    ],
  },
)
const { id, created_at } = KnowledgeSource.properties
export const KnowledgeSourceItem = object(
  { id, name, type, status, last_sync, created_at },
  { description: 'A knowledge source as lists show it.' },
)

/** One shape a type, told apart by `type`, so that an error names the field that is wrong and not the shapes it might have been. */
const branch = (of: SourceType): TObject => {
  const configuration = SOURCE_CONFIGURATIONS[of]
  const free = (configuration as { required?: string[] }).required === undefined
  return object({
    name,
    type: Type.Literal(of, { description: 'Where its documents come from.' }),
    configuration: free ? Type.Optional(configuration) : configuration,
    ...(of === 'git' ? { auth: Type.Optional(auth) } : {}),
  })
}
export const KnowledgeSourceCreate = Type.Unsafe<{
  name: string
  type: SourceType
  configuration?: SourceConfiguration
  auth?: SourceAuth
}>({
  type: 'object',
  description: 'A new knowledge source.',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: SOURCE_TYPES.map(branch),
  examples: [example],
})
export const KnowledgeSourceUpdate = object(optional({ name, configuration: Configuration, auth }), {
  description: 'What to change of a knowledge source; a configuration replaces the whole of the old one.',
  minProperties: 1,
  examples: [{ name: 'Staff handbook' }],
})

export const knowledgeSources = {
  name: 'knowledge-sources',
  noun: 'knowledge source',
  path: '/knowledge-sources',
  prefix: 'ks',
  item: KnowledgeSourceItem,
  resource: KnowledgeSource,
  create: KnowledgeSourceCreate,
  update: KnowledgeSourceUpdate,
  serverFields: ['status', 'error', 'last_sync', 'statistics', 'progress'],
} satisfies Family

const action = { family: 'knowledge-sources', params: idParams('knowledge source') }
export const knowledgeSourceRoutes = {
  ...crud(knowledgeSources, { read: 'read', change: 'change' }),
  sync: route({
    ...action,
    id: 'knowledge-sources.sync',
    method: 'POST',
    path: '/knowledge-sources/{id}/sync',
    summary: 'Synchronize a knowledge source',
    description: 'Answers at once; follow the status of the source or its events.',
    access: 'change',
    response: KnowledgeSource,
  }),
  cancelSync: route({
    ...action,
    id: 'knowledge-sources.cancel-sync',
    method: 'DELETE',
    path: '/knowledge-sources/{id}/sync',
    summary: 'Cancel a synchronization',
    description: 'What it has done so far stays; the next one goes on from there.',
    access: 'change',
    response: KnowledgeSource,
    shape: 'message',
  }),
  syncEvents: route({
    ...action,
    id: 'knowledge-sources.sync-events',
    method: 'GET',
    path: '/knowledge-sources/{id}/sync/events',
    summary: 'Follow a synchronization',
    description:
      'Events: progress, as often as it changes, then one sync_end with the knowledge source and what its last synchronization came to, as `changes` of read, unreadable, gone and embedded; or error. There are no `changes` where it has not been synchronized since the daemon was started.',
    access: 'read',
    response: Type.String(),
    shape: 'events',
  }),
}
