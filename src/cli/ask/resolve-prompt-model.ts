/** Resolves the model that a user names, or the default one. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { resolveResource } from '../resources/resolve-references.ts'
import { modelTopic } from '../resources/topics/models.ts'

/** Without a name, returns the default model. */
export async function resolveModel(connection: Connection, name?: string): Promise<Model> {
  const id =
    name === undefined
      ? (await call(connection, systemRoutes.getSettings, {})).data.default_model_id
      : await resolveResource(connection, modelTopic, name)
  return (await call(connection, modelRoutes.get, { params: { id } })).data
}

/** Throws if the model cannot answer without an agent. */
export async function resolvePromptModel(connection: Connection, name: string | undefined): Promise<Model> {
  const model = await resolveModel(connection, name)
  if (model.provider !== 'embedded') return model
  throw new CadreError('VALIDATION_ERROR', `${model.name} only quotes documents of agents and cannot answer without one.`, {
    hint: 'Name another model with --model. To add one: cadre models discover --add',
  })
}
