/** One valid resource of each family, with what it needs. */

import { good } from './answers.ts'
import type { Service } from './app.ts'

type Fields = Record<string, unknown>
let made = 0

/** A name no other test of this process uses. */
export const unique = (word: string): string => `${word} ${++made}`

export class Resources {
  readonly #service: Service

  constructor(service: Service) {
    this.#service = service
  }

  #make = (path: string, body: Fields) => good(this.#service.post(path, body), 201)

  agent = (fields: Fields = {}) => this.#make('/agents', { name: unique('agent'), ...fields })
  template = (fields: Fields = {}) => this.#make('/prompt-templates', { name: unique('template'), template: 'Hello {{name}}', ...fields })
  source = (fields: Fields = {}) => this.#make('/knowledge-sources', { name: unique('source'), type: 'file', ...fields })
  model = (fields: Fields = {}) => this.#make('/models', { name: unique('model'), provider: 'openai', model_id: unique('gpt'), ...fields })
  apiTool = (fields: Fields = {}) => this.#make('/api-tools', { name: unique('tool'), url: 'https://api.example.com/', ...fields })
  webhook = (fields: Fields = {}) =>
    this.#make('/webhooks', { url: 'https://hooks.example.com/in', events: ['conversation.completed'], ...fields })
  token = (fields: Fields = {}) => this.#make('/tokens', { name: unique('token'), role: 'viewer', ...fields })
  threshold = (fields: Fields = {}) => this.#make('/usage/thresholds', { metric: 'tokens', limit: 1000, period: 'day', ...fields })
  ragTool = async (fields: Fields = {}) =>
    this.#make('/rag-tools', {
      name: unique('rag'),
      knowledge_source_id: fields.knowledge_source_id ?? (await this.source()).id,
      ...fields,
    })
  retrievalTool = async (fields: Fields = {}) =>
    this.#make('/retrieval-tools', {
      name: unique('retrieval'),
      knowledge_source_ids: fields.knowledge_source_ids ?? [(await this.source()).id],
      ...fields,
    })
  conversation = async (fields: Fields = {}) =>
    this.#make('/conversations', { agent_id: fields.agent_id ?? (await this.agent()).id, ...fields })
  evaluation = async (fields: Fields = {}) =>
    this.#make('/evaluations', {
      name: unique('evaluation'),
      type: 'agent',
      target_id: fields.target_id ?? (await this.agent()).id,
      test_cases: [{ input: 'How many days?' }],
      ...fields,
    })
  document = async (fields: Fields = {}, sourceId?: string) =>
    this.#make(`/knowledge-sources/${sourceId ?? (await this.source()).id}/documents`, { name: 'leave.md', content: '# Leave', ...fields })
}
