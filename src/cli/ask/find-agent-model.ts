/** The model that answers for an agent, as far as the caller may know. */
import type { Static } from 'typebox'
import { call } from '../../client/call.ts'
import { ServiceError } from '../../client/failures.ts'
import type { Connection } from '../../client/request.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'

export interface AgentModel {
  id: string
  name: string
  /** Most tokens that it reads and writes, where that is known. */
  contextWindow: number | null
  /** It quotes the agent's documents and reads nothing else. */
  onlyQuotes: boolean
}

export function toAgentModel({ id, name, context_window, provider }: Static<typeof Model>): AgentModel {
  return { id, name, contextWindow: context_window, onlyQuotes: provider === 'embedded' }
}

/** The model that answers where nothing else was chosen. */
export async function findAgentModel(connection: Connection, { model_id }: { model_id: string | null }): Promise<AgentModel | undefined> {
  const byDefault = async () => (await call(connection, systemRoutes.getSettings, {})).data.default_model_id
  const id = model_id ?? (await ignoreForbidden(byDefault(), undefined))
  if (id === undefined) return undefined
  const asked = call(connection, modelRoutes.get, { params: { id } })
  return ignoreForbidden<AgentModel | undefined>(
    asked.then(({ data }) => toAgentModel(data)),
    undefined,
  )
}

/** What the caller may not see is not there: a member has conversations and agents, and knows nothing of models. */
export async function ignoreForbidden<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'FORBIDDEN') return otherwise
    throw error
  }
}
