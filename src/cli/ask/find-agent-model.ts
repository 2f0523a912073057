/** Finds the model that answers for an agent. */
import { call } from '../../client/call.ts'
import { ServiceError } from '../../client/errors.ts'
import type { Connection } from '../../client/request.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'

export interface AgentModel {
  id: string
  name: string
  /** Maximum number of tokens it reads and writes, if known. */
  contextWindow: number | null
  /** Whether it only quotes the agent's documents and ignores attached text. */
  onlyQuotes: boolean
}

export function toAgentModel({ id, name, context_window, provider }: Model): AgentModel {
  return { id, name, contextWindow: context_window, onlyQuotes: provider === 'embedded' }
}

/** Returns the agent's model or the default model; undefined if the caller may not read models. */
export async function findAgentModel(connection: Connection, { model_id }: { model_id: string | null }): Promise<AgentModel | undefined> {
  const load = async () => {
    const id = model_id ?? (await call(connection, systemRoutes.getSettings, {})).data.default_model_id
    return toAgentModel((await call(connection, modelRoutes.get, { params: { id } })).data)
  }
  return ignoreForbidden<AgentModel | undefined>(load(), undefined)
}

/** Resolves to `fallback` if the caller's role forbids the request. Members may not read models and settings. */
export async function ignoreForbidden<T>(request: Promise<T>, fallback: T): Promise<T> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'FORBIDDEN') return fallback
    throw error
  }
}
