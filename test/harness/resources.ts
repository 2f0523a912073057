/** Creates valid resources of each family, with the resources they refer to. */
import { expectData } from './expect.ts'
import type { TestServer } from './test-server.ts'

type Fields = Record<string, unknown>
let count = 0

/** A name that is unique in this process. */
export const uniqueName = (word: string): string => `${word} ${++count}`

export class Resources {
  readonly #server: TestServer

  constructor(server: TestServer) {
    this.#server = server
  }

  #create = (path: string, body: Fields) => expectData(this.#server.post(path, body), 201)

  agent = (fields: Fields = {}) => this.#create('/agents', { name: uniqueName('agent'), ...fields })
  template = (fields: Fields = {}) =>
    this.#create('/prompt-templates', { name: uniqueName('template'), template: 'Hello {{name}}', ...fields })
  source = (fields: Fields = {}) => this.#create('/knowledge-sources', { name: uniqueName('source'), type: 'file', ...fields })
  model = (fields: Fields = {}) =>
    this.#create('/models', { name: uniqueName('model'), provider: 'openai', model_id: uniqueName('gpt'), ...fields })
  apiTool = (fields: Fields = {}) => this.#create('/api-tools', { name: uniqueName('tool'), url: 'https://api.example.com/', ...fields })
  mcpServer = (fields: Fields = {}) =>
    this.#create('/mcp-servers', { name: uniqueName('server').replace(' ', '-'), url: 'https://mcp.example.com/mcp', ...fields })
  mcpTool = async (fields: Fields = {}) =>
    this.#create('/mcp-tools', {
      mcp_server_id: fields.mcp_server_id ?? (await this.mcpServer()).id,
      tool: uniqueName('tool').replace(' ', '_'),
      ...fields,
    })
  webhook = (fields: Fields = {}) =>
    this.#create('/webhooks', { url: 'https://hooks.example.com/in', events: ['conversation.completed'], ...fields })
  token = (fields: Fields = {}) => this.#create('/tokens', { name: uniqueName('token'), role: 'viewer', ...fields })
  threshold = (fields: Fields = {}) => this.#create('/usage/thresholds', { metric: 'tokens', limit: 1000, period: 'day', ...fields })
  ragTool = async (fields: Fields = {}) =>
    this.#create('/rag-tools', {
      name: uniqueName('rag'),
      knowledge_source_id: fields.knowledge_source_id ?? (await this.source()).id,
      ...fields,
    })
  retrievalTool = async (fields: Fields = {}) =>
    this.#create('/retrieval-tools', {
      name: uniqueName('retrieval'),
      knowledge_source_ids: fields.knowledge_source_ids ?? [(await this.source()).id],
      ...fields,
    })
  conversation = async (fields: Fields = {}) =>
    this.#create('/conversations', { agent_id: fields.agent_id ?? (await this.agent()).id, ...fields })
  memory = async (fields: Fields = {}) =>
    this.#create('/memories', { agent_id: fields.agent_id ?? (await this.agent()).id, content: uniqueName('Fact number'), ...fields })
  evaluation = async (fields: Fields = {}) =>
    this.#create('/evaluations', {
      name: uniqueName('evaluation'),
      type: 'agent',
      target_id: fields.target_id ?? (await this.agent()).id,
      test_cases: [{ input: 'How many days?' }],
      ...fields,
    })
  document = async (fields: Fields = {}, sourceId?: string) =>
    this.#create(`/knowledge-sources/${sourceId ?? (await this.source()).id}/documents`, {
      name: 'leave.md',
      content: '# Leave',
      index: false,
      ...fields,
    })
}
