/** Checks of `cadre doctor` for models, knowledge sources, MCP servers and webhooks. They do not call model providers. */
import { isLoopback } from '../../client/address.ts'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { type KnowledgeSource, knowledgeSourceRoutes } from '../../contract/families/knowledge-sources.ts'
import { mcpServerRoutes } from '../../contract/families/mcp/mcp-servers.ts'
import { mcpToolRoutes } from '../../contract/families/mcp/mcp-tools.ts'
import { HOSTED_PROVIDERS, type Model, modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { webhookRoutes } from '../../contract/families/webhooks.ts'
import { createDeadlineSignal, scaleTimeout } from '../../deadline.ts'
import { formatAllowCommand, isBlockedAddress } from '../knowledge/private-address-hint.ts'
import { toFailure } from '../terminal/failures/describe-failure.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'
import { type Check, fail, pass, warn } from './check.ts'

/** Each checked resource costs a request. */
const MAX_CHECKED = 20
const PROBE_TIMEOUT_MS = 2_000
const OLLAMA_URL = 'http://127.0.0.1:11434/v1'

const CHECKS = { models: checkModels, knowledge: checkKnowledge, tools: checkMcpServers, webhooks: checkWebhooks }

/** Returns all problems of each kind of resource, or one good check. */
export async function checkResources(connection: Connection): Promise<Check[]> {
  const checks: Check[] = []
  for (const [name, check] of Object.entries(CHECKS))
    checks.push(...(await check(connection).catch((error: unknown) => [describeFailure(name, error)])))
  return checks
}

function describeFailure(name: string, failure: unknown): Check {
  const { code, error, hint } = toFailure(failure)
  if (code === 'FORBIDDEN') return pass(name, 'not accessible with the role of this token')
  return fail(name, error, hint ?? 'For details: cadre daemon logs')
}

async function checkModels(connection: Connection): Promise<Check[]> {
  const { data: settings } = await call(connection, systemRoutes.getSettings, {})
  const { data: usual } = await call(connection, modelRoutes.get, { params: { id: settings.default_model_id } })
  const { data: all } = await call(connection, modelRoutes.list, { query: { limit: 100 } })
  const name = sanitizeLine(usual.name)
  const silent = await findUnreachableAddress(usual, connection)
  const problems: Check[] = []
  if (silent)
    problems.push(
      fail(
        'models',
        `${name}, the default model: no response from ${silent}`,
        'Start the model server, or use another model: cadre models default Embedded',
      ),
    )
  for (const model of [usual, ...all.filter(({ id }) => id !== usual.id)]) {
    if (!HOSTED_PROVIDERS.includes(model.provider) || model.has_api_key) continue
    const report = model === usual ? fail : warn
    const found = `${sanitizeLine(model.name)} has no API key for ${model.provider}`
    problems.push(report('models', found, `cadre models update ${quoteShellWord(model.name)} --api-key -`))
  }
  const how = usual.provider === 'embedded' ? 'needs no key' : `to test it: cadre models test ${quoteShellWord(usual.name)}`
  return problems.length > 0 ? problems : [pass('models', `${name} is the default model; ${how}`)]
}

/** Checks local servers only: requests to remote ones may cost money. */
async function findUnreachableAddress({ provider, endpoint }: Model, { url }: Connection): Promise<string | undefined> {
  const address = endpoint ?? (provider === 'ollama' ? OLLAMA_URL : null)
  if (address === null || !isLoopback(address) || !isLoopback(url)) return undefined
  try {
    const answer = await fetch(`${address.replace(/\/+$/, '')}/models`, {
      redirect: 'manual',
      signal: createDeadlineSignal(scaleTimeout(PROBE_TIMEOUT_MS)),
    })
    await answer.body?.cancel()
    return undefined
  } catch {
    return address // any failure means that the model is not available
  }
}

async function checkKnowledge(connection: Connection): Promise<Check[]> {
  const { data, pagination } = await call(connection, knowledgeSourceRoutes.list, { query: { limit: MAX_CHECKED } })
  const sources = await Promise.all(data.map(({ id }) => call(connection, knowledgeSourceRoutes.get, { params: { id } })))
  const problems: Check[] = []
  let skipped = 0
  for (const { data: source } of sources) {
    const { name, status, error, statistics } = source
    if (status === 'error') problems.push(fail('knowledge', `${sanitizeLine(name)}: ${error ?? 'cannot be read'}`, formatSourceFix(source)))
    else if (source.watching?.mode === 'polling') {
      const fix = `Changes are found within minutes. To turn it off: cadre knowledge update ${quoteShellWord(name)} --no-watch`
      problems.push(warn('knowledge', `${sanitizeLine(name)} is polled for changes. ${source.watching.reason}`, fix))
    }
    if (statistics.failed > 0) {
      const found = `${sanitizeLine(name)}: ${formatCount(statistics.failed, 'document')} cannot be read`
      problems.push(warn('knowledge', found, `cadre knowledge documents list ${quoteShellWord(name)} --filter status=failed`))
    }
    skipped += statistics.skipped
  }
  const rest = pagination.total > data.length ? `, ${data.length} checked` : ''
  return problems.length > 0
    ? problems
    : [
        pass(
          'knowledge',
          `${formatCount(pagination.total, 'source')}${rest}${skipped > 0 ? `; ${formatCount(skipped, 'file')} skipped` : ''}`,
        ),
      ]
}

function formatSourceFix(source: KnowledgeSource): string {
  const name = quoteShellWord(source.name)
  if (source.error === null || !isBlockedAddress(source, source.error)) return `cadre knowledge sync ${name}`
  const open = formatAllowCommand(source, source.error)
  return `${open ? `Allow it: ${open}. ` : ''}Or delete the source: cadre knowledge delete ${name}`
}

/** Starts the servers, because only they know whether they work and what they offer. */
async function checkMcpServers(connection: Connection): Promise<Check[]> {
  const { data, pagination } = await call(connection, mcpServerRoutes.list, { query: { limit: MAX_CHECKED } })
  const found = await Promise.all(
    data.map(async ({ id, name }): Promise<Check[]> => {
      try {
        const { tools } = (await call(connection, mcpToolRoutes.discover, { params: { id } })).data
        const outdated = tools.filter(({ state, id: approved }) => approved !== null && state !== 'approved')
        if (outdated.length === 0) return []
        const words = outdated.map(({ tool, state }) => `${sanitizeLine(tool)} (${state})`).slice(0, 5)
        return [warn('tools', `${name}: ${words.join(', ')}`, `cadre tools refresh ${name}`)]
      } catch (error) {
        const failure = toFailure(error)
        if (failure.code === 'FORBIDDEN') throw error
        return [fail('tools', sanitizeLine(failure.error), failure.hint ?? `cadre tools servers show ${name}`)]
      }
    }),
  )
  const problems = found.flat()
  if (problems.length > 0 || pagination.total === 0) return problems
  return [pass('tools', formatCount(pagination.total, 'MCP server'))]
}

async function checkWebhooks(connection: Connection): Promise<Check[]> {
  const { data, pagination } = await call(connection, webhookRoutes.list, { query: { limit: MAX_CHECKED } })
  const problems: Check[] = []
  for (const { id, url, enabled } of data) {
    if (!enabled) {
      problems.push(warn('webhooks', `${sanitizeLine(url)} is disabled`, `cadre webhooks update ${id} --enabled`))
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
    problems.push(warn('webhooks', `${sanitizeLine(url)}: ${sanitizeLine(last.error)}`, fix))
  }
  return problems.length > 0 ? problems : [pass('webhooks', formatCount(pagination.total, 'webhook'))]
}
