/** Finds the model that answers for an agent. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { handleError } from '../../contract/errors.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'

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
export async function resolveAgentModel(
  connection: Connection,
  { model_id }: { model_id: string | null },
): Promise<AgentModel | undefined> {
  const load = async () => {
    const id = model_id ?? (await call(connection, systemRoutes.getSettings, {})).data.default_model_id
    return toAgentModel((await call(connection, modelRoutes.get, { params: { id } })).data)
  }
  return load().catch(handleError('FORBIDDEN', () => undefined))
}
