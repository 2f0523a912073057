/** What `cadre doctor` looks at inside the service: models, knowledge sources and webhooks. No provider is called for it. */
import type { Static } from 'typebox'
import { isHere } from '../../client/address.ts'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { type KnowledgeSource, knowledgeSourceRoutes } from '../../contract/families/knowledge-sources.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { webhookRoutes } from '../../contract/families/webhooks.ts'
import { formatCount } from '../knowledge/follow-sync.ts'
import { formatAllowCommand, isBlockedAddress } from '../knowledge/private-address-hint.ts'
import { toFailure } from '../terminal/errors.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'
import type { Check } from './check.ts'

/** More are not looked into: each costs a request. */
const MAX_CHECKED = 20
const PROBE_TIMEOUT_MS = 2_000
const OLLAMA_URL = 'http://127.0.0.1:11434/v1'
const PROVIDERS_WITH_KEY = new Set(['openai', 'anthropic', 'google'])

type AnyModel = Static<typeof Model>

export async function checkResources(connection: Connection): Promise<Check[]> {
  const checks: Check[] = []
  for (const [name, look] of Object.entries({ models: checkModels, knowledge: checkKnowledge, webhooks: checkWebhooks }))
    checks.push(...(await runCheck(name, () => look(connection))))
  return checks
}

/** All that is wrong, or that nothing is. */
async function runCheck(name: string, look: () => Promise<{ well: string; ill: Omit<Check, 'name'>[] }>): Promise<Check[]> {
  try {
    const { well, ill } = await look()
    return ill.length === 0 ? [{ name, state: 'good', found: well }] : ill.map((found) => ({ name, ...found }))
  } catch (error) {
    const { code, error: found, hint } = toFailure(error)
    if (code === 'FORBIDDEN') return [{ name, state: 'good', found: 'not for the role of this token to see' }]
    return [{ name, state: 'broken', found, fix: hint ?? 'cadre daemon logs holds the cause.' }]
  }
}

async function checkModels(connection: Connection) {
  const { data: settings } = await call(connection, systemRoutes.getSettings, {})
  const { data: usual } = await call(connection, modelRoutes.get, { params: { id: settings.default_model_id } })
  const { data: all } = await call(connection, modelRoutes.list, { query: { limit: 100 } })
  const ill = all.filter((model) => model.id !== usual.id && isMissingKey(model)).map((model) => createMissingKeyProblem(model, 'warning'))
  const name = sanitizeLine(usual.name)
  if (isMissingKey(usual)) ill.unshift(createMissingKeyProblem(usual, 'broken'))
  const silent = await findUnreachableAddress(usual, connection)
  if (silent)
    ill.unshift({
      state: 'broken',
      found: `${name}, the default model: nothing answers at ${silent}`,
      fix: 'Start its server, or choose another model: cadre models default Embedded',
    })
  const how = usual.provider === 'embedded' ? 'needs no key' : `cadre models test ${quoteShellWord(usual.name)} tries it`
  return { well: `${name} answers by default; ${how}`, ill }
}

const isMissingKey = ({ provider, has_api_key }: AnyModel) => PROVIDERS_WITH_KEY.has(provider) && !has_api_key

const createMissingKeyProblem = ({ name, provider }: AnyModel, state: Check['state']) => ({
  state,
  found: `${sanitizeLine(name)} has no key for ${provider}`,
  fix: `cadre models update ${quoteShellWord(name)} --api-key -`,
})

/** The address of a model server on this machine that does not answer. Servers elsewhere may cost money, and are left alone. */
async function findUnreachableAddress({ provider, endpoint }: AnyModel, { url }: Connection): Promise<string | undefined> {
  const address = endpoint ?? (provider === 'ollama' ? OLLAMA_URL : null)
  if (address === null || !isHere(address) || !isHere(url)) return undefined
  try {
    const answer = await fetch(`${address.replace(/\/+$/, '')}/models`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    })
    await answer.body?.cancel()
    return undefined
  } catch {
    return address // whatever it was, a model there cannot answer
  }
}

async function checkKnowledge(connection: Connection) {
  const { data, pagination } = await call(connection, knowledgeSourceRoutes.list, { query: { limit: MAX_CHECKED } })
  const sources = await Promise.all(data.map(({ id }) => call(connection, knowledgeSourceRoutes.get, { params: { id } })))
  const ill: Omit<Check, 'name'>[] = []
  for (const { data: source } of sources) {
    const { name, status, error, statistics } = source
    if (status === 'error')
      ill.push({ state: 'broken', found: `${sanitizeLine(name)}: ${error ?? 'could not be read'}`, fix: formatSourceFix(source) })
    if (statistics.failed > 0)
      ill.push({
        state: 'warning',
        found: `${sanitizeLine(name)}: ${formatCount(statistics.failed, 'document')} could not be read`,
        fix: `cadre knowledge documents list ${quoteShellWord(name)} --filter status=failed tells why`,
      })
  }
  const rest = pagination.total > data.length ? `, of which ${data.length} were looked at` : ''
  return { well: `${formatCount(pagination.total, 'source')}${rest}`, ill }
}

function formatSourceFix(source: Static<typeof KnowledgeSource>): string {
  const name = quoteShellWord(source.name)
  if (source.error === null || !isBlockedAddress(source, source.error)) return `cadre knowledge sync ${name}`
  const open = formatAllowCommand(source, source.error)
  return `${open ? `${open} says so; ` : ''}cadre knowledge delete ${name} takes it away`
}

async function checkWebhooks(connection: Connection) {
  const { data, pagination } = await call(connection, webhookRoutes.list, { query: { limit: MAX_CHECKED } })
  const ill: Omit<Check, 'name'>[] = []
  for (const { id, url, enabled } of data) {
    if (!enabled) {
      ill.push({ state: 'warning', found: `${sanitizeLine(url)} is disabled`, fix: `cadre webhooks update ${id} --enabled` })
      continue
    }
    const query = { limit: 1, sort: 'created_at', order: 'desc' } as object
    const [last] = (await call(connection, webhookRoutes.deliveries, { params: { id }, query })).data
    if (!last || last.status === 'delivered' || last.error === null) continue
    // Who answered can be told again; where nobody does, the next attempt goes the way of the last.
    const answered = last.response_status !== null
    const fix = answered
      ? `cadre webhooks redeliver ${id} ${last.id}`
      : `cadre webhooks update ${id} --url ADDRESS sends events elsewhere; with --no-enabled it sends none`
    ill.push({ state: 'warning', found: `${sanitizeLine(url)}: ${sanitizeLine(last.error)}`, fix })
  }
  return { well: formatCount(pagination.total, 'webhook'), ill }
}
