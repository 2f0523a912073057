/** Checks of `cadre doctor` for models, knowledge sources and webhooks. They do not call providers. */
import { isLoopback } from '../../client/address.ts'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { type KnowledgeSource, knowledgeSourceRoutes } from '../../contract/families/knowledge-sources.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { webhookRoutes } from '../../contract/families/webhooks.ts'
import { formatAllowCommand, isBlockedAddress } from '../knowledge/private-address-hint.ts'
import { toFailure } from '../terminal/errors.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'
import type { Check } from './check.ts'

/** Each checked resource costs a request. */
const MAX_CHECKED = 20
const PROBE_TIMEOUT_MS = 2_000
const OLLAMA_URL = 'http://127.0.0.1:11434/v1'
const PROVIDERS_WITH_KEY = new Set(['openai', 'anthropic', 'google'])

export async function checkResources(connection: Connection): Promise<Check[]> {
  const checks: Check[] = []
  for (const [name, look] of Object.entries({ models: checkModels, knowledge: checkKnowledge, webhooks: checkWebhooks }))
    checks.push(...(await runCheck(name, () => look(connection))))
  return checks
}

/** Returns all problems, or one good check. */
async function runCheck(name: string, look: () => Promise<{ well: string; ill: Omit<Check, 'name'>[] }>): Promise<Check[]> {
  try {
    const { well, ill } = await look()
    return ill.length === 0 ? [{ name, state: 'good', found: well }] : ill.map((found) => ({ name, ...found }))
  } catch (error) {
    const { code, error: found, hint } = toFailure(error)
    if (code === 'FORBIDDEN') return [{ name, state: 'good', found: 'not accessible with the role of this token' }]
    return [{ name, state: 'broken', found, fix: hint ?? 'For details: cadre daemon logs' }]
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
      found: `${name}, the default model: no response from ${silent}`,
      fix: 'Start the model server, or use another model: cadre models default Embedded',
    })
  const how = usual.provider === 'embedded' ? 'needs no key' : `to test it: cadre models test ${quoteShellWord(usual.name)}`
  return { well: `${name} is the default model; ${how}`, ill }
}

const isMissingKey = ({ provider, has_api_key }: Model) => PROVIDERS_WITH_KEY.has(provider) && !has_api_key

const createMissingKeyProblem = ({ name, provider }: Model, state: Check['state']) => ({
  state,
  found: `${sanitizeLine(name)} has no API key for ${provider}`,
  fix: `cadre models update ${quoteShellWord(name)} --api-key -`,
})

/** Checks local servers only: requests to remote ones may cost money. */
async function findUnreachableAddress({ provider, endpoint }: Model, { url }: Connection): Promise<string | undefined> {
  const address = endpoint ?? (provider === 'ollama' ? OLLAMA_URL : null)
  if (address === null || !isLoopback(address) || !isLoopback(url)) return undefined
  try {
    const answer = await fetch(`${address.replace(/\/+$/, '')}/models`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    })
    await answer.body?.cancel()
    return undefined
  } catch {
    return address // any failure means that the model is not available
  }
}

async function checkKnowledge(connection: Connection) {
  const { data, pagination } = await call(connection, knowledgeSourceRoutes.list, { query: { limit: MAX_CHECKED } })
  const sources = await Promise.all(data.map(({ id }) => call(connection, knowledgeSourceRoutes.get, { params: { id } })))
  const ill: Omit<Check, 'name'>[] = []
  for (const { data: source } of sources) {
    const { name, status, error, statistics } = source
    if (status === 'error')
      ill.push({ state: 'broken', found: `${sanitizeLine(name)}: ${error ?? 'cannot be read'}`, fix: formatSourceFix(source) })
    if (statistics.failed > 0)
      ill.push({
        state: 'warning',
        found: `${sanitizeLine(name)}: ${formatCount(statistics.failed, 'document')} cannot be read`,
        fix: `cadre knowledge documents list ${quoteShellWord(name)} --filter status=failed`,
      })
  }
  const rest = pagination.total > data.length ? `, ${data.length} checked` : ''
  return { well: `${formatCount(pagination.total, 'source')}${rest}`, ill }
}

function formatSourceFix(source: KnowledgeSource): string {
  const name = quoteShellWord(source.name)
  if (source.error === null || !isBlockedAddress(source, source.error)) return `cadre knowledge sync ${name}`
  const open = formatAllowCommand(source, source.error)
  return `${open ? `Allow it: ${open}. ` : ''}Or delete the source: cadre knowledge delete ${name}`
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
    // Redelivery helps only if the endpoint responds.
    const answered = last.response_status !== null
    const fix = answered
      ? `cadre webhooks redeliver ${id} ${last.id}`
      : `Change the address: cadre webhooks update ${id} --url ADDRESS. Or disable it: cadre webhooks update ${id} --no-enabled`
    ill.push({ state: 'warning', found: `${sanitizeLine(url)}: ${sanitizeLine(last.error)}`, fix })
  }
  return { well: formatCount(pagination.total, 'webhook'), ill }
}
