/** Flags that filter a usage report by agent, model, user, tool, prompt template or evaluation. */
import { string } from '@oclif/core/flags'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { modelRoutes } from '../../contract/families/models.ts'
import type { ENTITY_TYPES } from '../../contract/families/usage.ts'
import { DEFAULT_EMBEDDING_MODEL } from '../../contract/schemas/passages.ts'
import { resolveName } from '../resources/resolve-references.ts'

type EntityType = (typeof ENTITY_TYPES)[number]

const ENTITY_TYPE_BY_FLAG = {
  agent: 'agent',
  model: 'model',
  user: 'user',
  rag: 'rag_tool',
  prompt: 'prompt_template',
  evaluation: 'evaluation',
} as const
type Flag = keyof typeof ENTITY_TYPE_BY_FLAG

const createEntityFlag = (flag: Flag, label: string) =>
  string({
    description: `Show only usage of ${label}.`,
    helpValue: '<name>',
    exclusive: Object.keys(ENTITY_TYPE_BY_FLAG).filter((other) => other !== flag),
  })

export const entityFlags = {
  agent: createEntityFlag('agent', 'an agent'),
  model: createEntityFlag('model', 'a model'),
  user: createEntityFlag('user', 'a user'),
  rag: createEntityFlag('rag', 'a RAG tool'),
  prompt: createEntityFlag('prompt', 'a prompt template'),
  evaluation: createEntityFlag('evaluation', 'an evaluation'),
}

interface EntityFilter {
  query: { entity_type?: EntityType; entity_id?: string }
  /** Text for the heading of the report. */
  title: string
}

export async function resolveEntityFilter(connection: Connection, flags: { [F in Flag]?: string | undefined }): Promise<EntityFilter> {
  const flag = (Object.keys(ENTITY_TYPE_BY_FLAG) as Flag[]).find((name) => flags[name] !== undefined)
  if (!flag) return { query: {}, title: '' }
  const [entity_type, name] = [ENTITY_TYPE_BY_FLAG[flag], flags[flag] as string]
  const entity_id =
    entity_type === 'user'
      ? name
      : entity_type === 'model'
        ? await resolveModel(connection, name)
        : await resolveName(connection, [entity_type], name)
  return { query: { entity_type, entity_id }, title: `${entity_type.replace('_', ' ')} "${name}"` }
}

/** Resolves a model by identifier, name or the provider's model ID. The embedded embedding model has only a model ID. */
async function resolveModel(connection: Connection, name: string): Promise<string> {
  if (name === DEFAULT_EMBEDDING_MODEL) return name
  const id = await resolveName(connection, ['model'], name)
  if (id !== name || name.startsWith('model_')) return id
  const { data } = await call(connection, modelRoutes.list, { query: { model_id: name, limit: 2 } as object })
  if (data.length === 1) return (data as { id: string }[])[0]?.id ?? name
  throw new CadreError('NOT_FOUND', data.length === 0 ? `There is no model "${name}".` : `Several models have the model ID "${name}".`, {
    hint: 'List the models with cadre models list.',
  })
}
