/** Finds the model that answers: one that the user names, that of an agent, or the default one. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError, handleError } from '../../contract/errors.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { resolveResource } from '../resources/resolve-references.ts'
import { modelTopic } from '../resources/topics/models.ts'

/** Without a name, returns the default model. */
export async function resolveModel(connection: Connection, name?: string): Promise<Model> {
  return getModel(connection, name === undefined ? null : await resolveResource(connection, modelTopic, name))
}

/** Throws if the model cannot answer without an agent. */
export async function resolvePromptModel(connection: Connection, name: string | undefined): Promise<Model> {
  const model = await resolveModel(connection, name)
  if (model.provider !== 'embedded') return model
  throw new CadreError('VALIDATION_ERROR', `${model.name} only quotes documents of agents and cannot answer without one.`, {
    hint: 'Name another model with --model. To add one: cadre models discover --add',
  })
}

export interface AgentModel {
  name: string
  /** Maximum number of tokens it reads and writes, if known. */
  contextWindow: number | null
  /** Whether it only quotes the agent's documents and ignores attached text. */
  onlyQuotes: boolean
}

export function toAgentModel({ name, context_window, provider }: Model): AgentModel {
  return { name, contextWindow: context_window, onlyQuotes: provider === 'embedded' }
}

/** Returns the agent's model or the default model; undefined if the caller may not read models. */
export function resolveAgentModel(connection: Connection, { model_id }: { model_id: string | null }): Promise<AgentModel | undefined> {
  return getModel(connection, model_id).then(
    toAgentModel,
    handleError('FORBIDDEN', () => undefined),
  )
}

/** Null is the default model. */
async function getModel(connection: Connection, model_id: string | null): Promise<Model> {
  const id = model_id ?? (await call(connection, systemRoutes.getSettings, {})).data.default_model_id
  return (await call(connection, modelRoutes.get, { params: { id } })).data
}
