/** Lists agents and models under the names that clients use, and finds them by these names. */
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { OpenaiModel } from '../../src/contract/openai/routes.ts'
import type { AgentsService } from '../agents/service.ts'
import type { Caller } from '../core/caller.ts'
import { MINILM } from '../embedding/minilm-embedder.ts'
import type { ModelsService } from '../models/service.ts'

/** Clients show all entries in one menu. */
const MAX_ENTRIES = 1_000
const MINILM_CREATED_AT = '2026-01-01T00:00:00.000Z'

interface Entry {
  kind: 'agent' | 'model' | 'embedding_model'
  id: string
  name: string
  owner: string
  createdAt: string
}

export function createModelDirectory(agents: AgentsService, models: ModelsService) {
  async function list(caller: Caller): Promise<{ object: 'list'; data: OpenaiModel[] }> {
    const entries = await listEntries(caller, {})
    const counts = new Map<string, number>()
    for (const { name } of entries) counts.set(name, (counts.get(name) ?? 0) + 1)
    return { object: 'list', data: entries.map((entry) => formatEntry(entry, counts.get(entry.name) === 1 ? entry.name : entry.id)) }
  }

  async function get(caller: Caller, reference: string): Promise<OpenaiModel> {
    return formatEntry(await find(caller, reference), reference)
  }

  /** Identifiers take precedence over names, and these over the provider's name of a model. Members can use agents only. */
  async function find(caller: Caller, reference: string): Promise<Entry> {
    for (const filter of [{ id: reference }, { name: reference }, { model_id: reference }]) {
      const [entry, ...others] = await listEntries(caller, filter)
      if (others.length > 0)
        throw createValidationError(
          'model',
          `several agents or models are called "${reference}"`,
          `Use an identifier: ${[entry, ...others].map((other) => other?.id).join(' or ')}.`,
        )
      if (entry) return entry
    }
    throw new CadreError('NOT_FOUND', `There is no ${caller.role === 'member' ? 'agent' : 'agent or model'} "${reference}".`, {
      details: [{ field: 'model', problem: 'does not exist' }],
      hint: 'GET /v1/models lists the names.',
    })
  }

  async function listEntries(caller: Caller, filter: { id?: string; name?: string; model_id?: string }): Promise<Entry[]> {
    const query = { ...filter, limit: MAX_ENTRIES, sort: 'name', order: 'asc' as const }
    const isForAgents = filter.model_id === undefined
    const foundAgents = isForAgents ? (await agents.list(caller, query)).items : []
    const foundModels = caller.role === 'member' ? [] : (await models.list(caller, query)).items
    const hasMinilm = caller.role !== 'member' && (filter.name ?? filter.id ?? MINILM) === MINILM && isForAgents
    return [
      ...foundAgents.map(({ id, name, created_at: createdAt }) => ({ kind: 'agent' as const, id, name, owner: 'cadre', createdAt })),
      ...foundModels.map(({ id, name, provider: owner, created_at: createdAt }) => ({
        kind: 'model' as const,
        id,
        name,
        owner,
        createdAt,
      })),
      ...(hasMinilm ? [{ kind: 'embedding_model' as const, id: MINILM, name: MINILM, owner: 'cadre', createdAt: MINILM_CREATED_AT }] : []),
    ]
  }

  return { list, get, find }
}

export type ModelDirectory = ReturnType<typeof createModelDirectory>

const formatEntry = ({ kind, id, owner, createdAt }: Entry, name: string): OpenaiModel => ({
  id: name,
  object: 'model',
  created: Math.floor(Date.parse(createdAt) / 1000),
  owned_by: owner,
  cadre: { type: kind, id },
})
