/** Sends generated requests to the service, with known ones among them that must be answered right all the same. */
import * as assert from 'node:assert/strict'
import fc from 'fast-check'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import { document } from '../harness/check-response.ts'
import { Resources } from '../harness/resources.ts'
import type { Json, TestServer } from '../harness/test-server.ts'
import { arbitraryRequest, type FuzzRequest } from './requests.ts'

const CHECK_INTERVAL = 10

export interface CampaignSummary {
  requests: number
  known: number
  /** How many answers had each status. */
  statuses: Record<number, number>
  operations: number
  /** Operations that were answered with success at least once. */
  succeeded: number
}

/** The first segment of a path, and the identifiers there are of what it names. */
type Existing = Map<string, string[]>

export async function runCampaign(service: TestServer, seed: number, requests: number): Promise<CampaignSummary> {
  const resources = new Resources(service)
  const existing = await createResources(resources)
  const summary: CampaignSummary = { requests: 0, known: 0, statuses: {}, operations: 0, succeeded: 0 }
  const [seen, succeeded] = [new Set<string>(), new Set<string>()]
  for (const request of fc.sample(arbitraryRequest(document), { seed, numRuns: requests })) {
    const told = () => `seed ${seed}, request ${summary.requests}: ${JSON.stringify(request).slice(0, 2_000)}`
    const answer = await send(service, request, existing).catch((error: Error) => {
      throw new Error(`${error.message}\n${told()}`, { cause: error })
    })
    if (answer.status >= 500) throw new Error(`${answer.status} ${answer.text}\n${told()}`)
    if (request.method === 'POST' && answer.status === 201) rememberCreated(existing, request.path, answer.data)
    summary.requests++
    summary.statuses[answer.status] = (summary.statuses[answer.status] ?? 0) + 1
    seen.add(request.operationId)
    if (answer.status < 300) succeeded.add(request.operationId)
    if (summary.requests % CHECK_INTERVAL === 0) {
      await checkAgentLifecycle(service, resources, summary.known++)
    }
  }
  return { ...summary, operations: seen.size, succeeded: succeeded.size }
}

async function send(service: TestServer, request: FuzzRequest, existing: Existing): Promise<Json> {
  const { method, path, params, query, body, headers, as } = request
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeSegment(chooseParam(params[name] ?? 'x', name, path, existing)))
  const search = query.map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`).join('&')
  const referred = (text: string) =>
    text.replaceAll(/"@([a-z-]+):(\d+)"/g, (_, name: string, number: string) => JSON.stringify(pickId(existing, name, Number(number))))
  const raw = body === undefined ? undefined : 'raw' in body ? body.raw : referred(JSON.stringify(body.json))
  // The stream of events never ends: it is asked for by those who may not have it.
  const who = getFamily(path) === 'events' && as === 'admin' ? 'viewer' : as
  return service.call(method, search ? `${url}?${search}` : url, undefined, { as: who, headers, ...(raw === undefined ? {} : { raw }) })
}

function chooseParam(param: number | string, name: string, path: string, existing: Existing): string {
  if (typeof param === 'string') return param
  // What asks a model asks the embedded one, of tools that no request changes.
  if (/\/(query|search)\/?$/.test(path)) return pickId(existing, `asked ${getFamily(path)}`, param)
  return pickId(existing, name === 'id' ? getFamily(path) : name, param)
}

function pickId(existing: Existing, name: string, number: number): string {
  const ids = existing.get(name) ?? []
  return ids[number % ids.length] ?? 'nobody'
}

const getFamily = (path: string) =>
  path
    .replace(/^\/api(\/v1)?\//, '')
    .replace(/\/\{.*$/, '')
    .replace(/\/$/, '')

/** An empty part would be another path, and half a surrogate pair is in no address. */
function encodeSegment(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '?')) || '%20'
}

async function createResources(resources: Resources): Promise<Existing> {
  const existing: Existing = new Map()
  const makers: Record<string, () => Promise<Json>> = {
    agents: resources.agent,
    'prompt-templates': resources.template,
    'knowledge-sources': resources.source,
    'rag-tools': resources.ragTool,
    'retrieval-tools': resources.retrievalTool,
    conversations: resources.conversation,
    models: resources.model,
    evaluations: resources.evaluation,
    'usage/thresholds': resources.threshold,
    'api-tools': resources.apiTool,
    webhooks: resources.webhook,
    tokens: resources.token,
    document_id: resources.document,
  }
  existing.set('asked rag-tools', [(await resources.ragTool({ model_id: EMBEDDED_MODEL_ID })).id])
  existing.set('asked retrieval-tools', [(await resources.retrievalTool({ search_method: 'full_text' })).id])
  for (const [name, make] of Object.entries(makers)) existing.set(name, [(await make()).id, (await make()).id])
  return existing
}

/** What was made may be changed and deleted by later requests; only the newest are asked for. */
function rememberCreated(existing: Existing, path: string, data: Json): void {
  const name = path.includes('/documents') ? 'document_id' : getFamily(path)
  existing.set(name, [...(existing.get(name) ?? []), data.id].slice(-20))
}

/** A round of an agent's life, which must go as ever. */
async function checkAgentLifecycle(service: TestServer, resources: Resources, round: number): Promise<void> {
  const agent = await resources.agent({ description: `known ${round}`, temperature: 0.5 })
  const path = `/agents/${agent.id}`
  assert.deepEqual((await service.get(path)).data, agent)
  const changed = await service.put(path, { temperature: 1 })
  assert.deepEqual([changed.status, changed.data.temperature, changed.data.description], [200, 1, `known ${round}`])
  assert.equal((await service.get(`/agents?description=known+${round}`)).body.pagination.total, 1)
  assert.equal((await service.delete(path)).status, 200)
  assert.equal((await service.get(path)).status, 404)
}
