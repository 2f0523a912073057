/** Sends generated requests to the daemon and regularly checks that it still works correctly. */
import * as assert from 'node:assert/strict'
import fc from 'fast-check'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import { FAMILIES } from '../../src/contract/routes.ts'
import { document } from '../harness/check-response.ts'
import { Resources } from '../harness/resources.ts'
import { createSamples } from '../harness/samples.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { arbitraryRequest, type FuzzRequest } from './requests.ts'

const CHECK_INTERVAL = 25

export interface CampaignSummary {
  requests: number
  known: number
  /** Number of responses by status. */
  statuses: Record<number, number>
  operations: number
  /** Number of operations that succeeded at least once. */
  succeeded: number
}

/** Identifiers of existing resources by family or parameter. */
type ExistingIds = Map<string, string[]>

/** Starts a server that finds no host, because generated webhooks and models have URLs. */
export const startServer = (): Promise<TestServer> => TestServer.start({ resolve: async () => [] })

export async function runCampaign(server: TestServer, seed: number, requests: number): Promise<CampaignSummary> {
  const resources = new Resources(server)
  const existing = await createResources(resources)
  const summary: CampaignSummary = { requests: 0, known: 0, statuses: {}, operations: 0, succeeded: 0 }
  const [seen, succeeded] = [new Set<string>(), new Set<string>()]
  for (const request of fc.sample(arbitraryRequest(document), { seed, numRuns: requests })) {
    const describe = () => `seed ${seed}, request ${summary.requests}: ${JSON.stringify(request).slice(0, 2_000)}`
    const answer = await send(server, request, existing).catch((error: Error) => {
      throw new Error(`${error.message}\n${describe()}`, { cause: error })
    })
    if (answer.status >= 500) throw new Error(`${answer.status} ${answer.text}\n${describe()}`)
    if (request.method === 'POST' && answer.status === 201) rememberCreated(existing, request.path, answer.data)
    summary.requests++
    summary.statuses[answer.status] = (summary.statuses[answer.status] ?? 0) + 1
    seen.add(request.operationId)
    if (answer.status < 300) succeeded.add(request.operationId)
    if (summary.requests % CHECK_INTERVAL === 0) {
      await checkAgentLifecycle(server, resources, summary.known++)
    }
  }
  return { ...summary, operations: seen.size, succeeded: succeeded.size }
}

async function send(server: TestServer, request: FuzzRequest, existing: ExistingIds): Promise<Json> {
  const { method, path, params, query, body, headers, as } = request
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeSegment(chooseParam(params[name] ?? 'x', name, path, existing)))
  const search = query.map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`).join('&')
  const referred = (text: string) =>
    text.replaceAll(/"@([a-z-]+):(\d+)"/g, (_, name: string, number: string) => JSON.stringify(pickId(existing, name, Number(number))))
  const raw = body === undefined ? undefined : 'raw' in body ? body.raw : referred(JSON.stringify(body.json))
  // The event stream never ends, so only roles without access request it.
  const who = getFamily(path) === 'events' && as === 'admin' ? 'viewer' : as
  return server.call(method, search ? `${url}?${search}` : url, undefined, { as: who, headers, ...(raw === undefined ? {} : { raw }) })
}

function chooseParam(param: number | string, name: string, path: string, existing: ExistingIds): string {
  if (typeof param === 'string') return param
  // Queries use tools with the embedded model that no other request changes.
  if (/\/(query|search)\/?$/.test(path)) return pickId(existing, `asked ${getFamily(path)}`, param)
  return pickId(existing, name === 'id' ? getFamily(path) : name, param)
}

function pickId(existing: ExistingIds, name: string, number: number): string {
  const ids = existing.get(name) ?? []
  return ids[number % ids.length] ?? 'nobody'
}

const getFamily = (path: string) =>
  path
    .replace(/^\/api(\/v1)?\//, '')
    .replace(/\/\{.*$/, '')
    .replace(/\/$/, '')

/** Replaces empty segments and those of dots, which would change the path, and lone surrogates, which URLs cannot contain. */
function encodeSegment(text: string): string {
  const segment = encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '?'))
  return /^\.{0,2}$/.test(segment) ? `${segment}%20` : segment
}

async function createResources(resources: Resources): Promise<ExistingIds> {
  const existing: ExistingIds = new Map()
  const samples = createSamples(resources)
  existing.set('asked rag-tools', [(await resources.ragTool({ model_id: EMBEDDED_MODEL_ID })).id])
  existing.set('asked retrieval-tools', [(await resources.retrievalTool({ search_method: 'full_text' })).id])
  for (const { name, path } of FAMILIES) {
    const sample = samples[name]
    assert.ok(sample, `no sample of ${name}`)
    existing.set(path.slice(1), [(await sample.create(0)).id, (await sample.create(0)).id])
  }
  existing.set('document_id', [(await resources.document()).id, (await resources.document()).id])
  return existing
}

/** Remembers the newest resources, which later requests change and delete. */
function rememberCreated(existing: ExistingIds, path: string, data: Json): void {
  const name = path.includes('/documents') ? 'document_id' : getFamily(path)
  existing.set(name, [...(existing.get(name) ?? []), data.id].slice(-20))
}

/** Creates, reads, updates, lists and deletes an agent. */
async function checkAgentLifecycle(server: TestServer, resources: Resources, round: number): Promise<void> {
  const agent = await resources.agent({ description: `known ${round}`, temperature: 0.5 })
  const path = `/agents/${agent.id}`
  assert.deepEqual((await server.get(path)).data, agent)
  const changed = await server.put(path, { temperature: 1 })
  assert.deepEqual([changed.status, changed.data.temperature, changed.data.description], [200, 1, `known ${round}`])
  assert.equal((await server.get(`/agents?description=known+${round}`)).body.pagination.total, 1)
  assert.equal((await server.delete(path)).status, 200)
  assert.equal((await server.get(path)).status, 404)
}
