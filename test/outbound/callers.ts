/** Every feature that sends requests to configured addresses, used through the REST API. */
import { type ScriptedProvider, type Step, streamReply } from '../harness/scripted-provider.ts'
import type { KnowledgeFixture } from '../knowledge/knowledge-fixture.ts'

export type Outcome = { blocked: string } | { reached: true }
/** Configures an address and makes a request to it. It is blocked at configuration or on connecting. */
export type OutboundCaller = (url: string, isAllowed: boolean) => Promise<Outcome>

/** Callers with a setting that allows private addresses. */
export const CALLERS = ['an API tool', 'a URL source', 'a webhook', 'the import of a document'] as const
/** Callers whose requests an editor or a model decides about. */
export const CALLERS_WITHOUT_PERMISSION = ['a git source', 'the model of an editor', 'a tool called by a model'] as const

const toOutcome = (problem: string | null): Outcome => (problem === null ? { reached: true } : { blocked: problem })
const fromMessage = (text: string): Outcome => ({ blocked: /request was not sent/.test(text) ? 'ADDRESS_BLOCKED' : text })

export const isBlocked = (outcome: Outcome): boolean =>
  'blocked' in outcome && /ADDRESS_BLOCKED|VALIDATION_ERROR|FORBIDDEN|request was not sent/.test(outcome.blocked)

/** The model calls its tool, and then repeats the result. */
export const callTool: Step = streamReply(({ body }) => {
  const { role, content } = body.messages.at(-1)
  return role === 'tool' ? { text: [content] } : { calls: [{ name: body.tools[0].function.name, arguments: {} }] }
})

/** @param provider answers with `callTool` */
export async function createCallers(knowledge: KnowledgeFixture, provider: ScriptedProvider): Promise<Record<string, OutboundCaller>> {
  const { service, resources } = knowledge
  const tool = await resources.apiTool()
  const webhook = await resources.webhook()
  const source = await knowledge.createSource('url', { url: 'https://example.com/' })
  const repository = await knowledge.createSource('git', { repository: 'https://example.com/r.git' })
  const editable = { name: 'remote', provider: 'openai-compatible', model_id: 'remote', endpoint: 'https://models.example.com/v1' }
  const model = (await service.post('/models', editable, { as: 'editor' })).data
  const scripted = await resources.model(provider.model)
  const agent = await resources.agent({ model_id: scripted.id, tools: [tool.id] })
  const configure = async (path: string, fields: object, as = 'admin'): Promise<Outcome | undefined> => {
    const { status, body } = await service.put(path, fields, { as })
    return status >= 400 ? { blocked: body.code } : undefined
  }
  const sync = async (id: string): Promise<Outcome> => {
    const { error, status } = await knowledge.sync(id)
    return status === 'error' ? fromMessage(error) : { reached: true }
  }
  return {
    'an API tool': async (url, allow_private_network) => {
      const invalid = await configure(`/api-tools/${tool.id}`, { url, allow_private_network })
      if (invalid) return invalid
      const { status, body } = await service.post(`/api-tools/${tool.id}/test`, {})
      return toOutcome(status === 200 ? null : body.code)
    },
    'a URL source': async (url, allow_private_network) =>
      (await configure(`/knowledge-sources/${source.id}`, { configuration: { url, allow_private_network } })) ?? sync(source.id),
    'a webhook': async (url, allow_private_network) => {
      const invalid = await configure(`/webhooks/${webhook.id}`, { url, allow_private_network })
      if (invalid) return invalid
      const { status, body } = await service.post(`/webhooks/${webhook.id}/test`, {})
      if (status >= 400) return { blocked: body.code }
      return body.data.response_status === null ? fromMessage(body.data.error) : { reached: true }
    },
    'the import of a document': async (url, allow_private_network) => {
      const { status, body } = await service.post('/api-tools/import', { url, allow_private_network, dry_run: true })
      return toOutcome(status === 200 || body.error.includes('cannot be imported') ? null : body.code)
    },
    'a git source': async (url) =>
      (await configure(`/knowledge-sources/${repository.id}`, { configuration: { repository: `${url}r.git` } })) ?? sync(repository.id),
    'the model of an editor': async (url) => {
      const invalid = await configure(`/models/${model.id}`, { endpoint: `${url}v1` }, 'editor')
      if (invalid) return invalid
      const { body } = await service.post(`/models/${model.id}/test`, {}, { as: 'editor' })
      return body.code ? { blocked: body.code } : body.data.ok ? { reached: true } : fromMessage(JSON.stringify(body.data))
    },
    'a tool called by a model': async (url) => {
      const invalid = await configure(`/api-tools/${tool.id}`, { url, allow_private_network: false })
      if (invalid) return invalid
      const { id } = await resources.conversation({ agent_id: agent.id })
      const { data } = await service.post(`/conversations/${id}/messages`, { message: 'Call it.' })
      return fromMessage(JSON.stringify(data))
    },
  }
}
