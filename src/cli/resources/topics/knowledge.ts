/** CLI topic of knowledge sources. Each configuration field has its own flag. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { TSchema } from 'typebox'
import {
  KnowledgeSource,
  KnowledgeSourceUpdate,
  knowledgeSourceRoutes,
  knowledgeSources,
} from '../../../contract/families/knowledge-sources.ts'
import { getFields, object, optional } from '../../../contract/schemas/fields.ts'
import { SOURCE_CONFIGURATIONS, type SourceType } from '../../../contract/schemas/source-configurations.ts'
import type { Body } from '../../input/input-reader.ts'
import type { Topic } from '../topic.ts'

const { name, description, type, configuration } = KnowledgeSource.properties
const { auth } = KnowledgeSourceUpdate.properties
const configurationFields: Record<string, TSchema> = Object.assign(
  {},
  ...Object.values(SOURCE_CONFIGURATIONS).map((schema) => getFields(schema)),
)

/** Infers the type from a configuration field. */
const TYPE_BY_FIELD: Record<string, SourceType> = { path: 'folder', url: 'url', repository: 'git', text: 'text' }

/** The daemon has another working directory, so paths must be absolute. */
function resolvePaths(field: string, value: unknown): unknown {
  if (field === 'path' && typeof value === 'string') return resolve(value)
  if (field === 'paths' && Array.isArray(value)) return value.map((path: string) => resolve(path))
  if (field === 'repository' && typeof value === 'string' && existsSync(value)) return resolve(value)
  return value
}

/** Separates the configuration fields from the others. */
function splitFields(given: Body): { body: Body; settings: Body } {
  const nested = Object.entries(given).filter(([field]) => field in configurationFields)
  return {
    body: Object.fromEntries(Object.entries(given).filter(([field]) => !(field in configurationFields))),
    settings: Object.fromEntries(nested.map(([field, value]) => [field, resolvePaths(field, value)])),
  }
}

function toBody(given: Body): Body {
  const { body, settings } = splitFields(given)
  const whole = { ...(body.configuration as Body | undefined), ...settings }
  const inferred = Object.keys(whole).flatMap((field) => TYPE_BY_FIELD[field] ?? [])[0] ?? 'file'
  return { ...body, type: body.type ?? inferred, ...(Object.keys(whole).length > 0 ? { configuration: whole } : {}) }
}

/** The API replaces the whole configuration; a flag changes one setting. */
function toUpdateBody(given: Body, current: Body): Body {
  const { body, settings } = splitFields(given)
  if (Object.keys(settings).length === 0) return body
  return { ...body, configuration: { ...((body.configuration ?? current.configuration) as Body), ...settings } }
}

/** Returns `on`, `off` or `polling: …`. */
export function formatWatching({ configuration, watching }: Pick<KnowledgeSource, 'configuration' | 'watching'>): string {
  if (watching?.mode === 'polling') return `polling: ${watching.reason}`
  return configuration.watch === true ? 'on' : 'off'
}

/** Counts the documents that were indexed apart from those that could not be read. */
function toView(source: Body): Body {
  const { statistics, watching: _, ...rest } = source as KnowledgeSource & Body
  const { documents, failed, skipped, skipped_types, chunks, embedded } = statistics
  return {
    ...rest,
    ...(rest.type === 'folder' ? { watching: formatWatching(source as KnowledgeSource) } : {}),
    statistics: { indexed: documents - failed, unreadable: failed, skipped, skipped_types, passages: chunks, embedded },
  }
}

export const knowledgeTopic: Topic = {
  command: 'knowledge',
  family: knowledgeSources,
  routes: knowledgeSourceRoutes,
  columns: ['id', 'name', 'type', 'status', 'last_sync', 'created_at'],
  label: 'name',
  getNextStep: ({ name }) => ['Index its documents', `cadre knowledge sync ${name}`],
  references: {},
  toView,
  createExample: 'cadre knowledge add ./docs',
  form: { schema: object({ name, ...optional({ description, type, configuration, auth, ...configurationFields }) }), toBody },
  updateForm: { schema: object({ ...KnowledgeSourceUpdate.properties, ...configurationFields }), toBody: toUpdateBody },
}
