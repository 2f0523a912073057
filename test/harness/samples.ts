/** Sample resources and updates for each family. */

import type { Resources } from './resources.ts'
import type { Json } from './test-server.ts'

export interface Sample {
  create(index: number): Promise<Json>
  /** An update that is valid for every sample. */
  change: Record<string, unknown>
  /** The text field that identifies a resource for people. */
  label?: string
}

const pick = <T>(items: readonly T[], index: number): T => items[index % items.length] as T

export function createSamples(resources: Resources): Record<string, Sample> {
  const createName = (word: string, index: number) => `${word} ${String(index * 7 + 3).padStart(3, '0')}`
  const servers = new Map<number, Promise<Json>>()
  const findServer = async (index: number): Promise<string> => {
    const server = servers.get(index) ?? resources.mcpServer()
    servers.set(index, server)
    return (await server).id
  }
  return {
    agents: {
      create: (index) =>
        resources.agent({
          name: createName('agent', index),
          description: `d${index % 4}`,
          temperature: pick([0, 0.5, 1, 2, null], index),
          max_tokens: (index % 6) + 1,
          system_prompt: `p${index % 3}`,
        }),
      change: { description: 'changed', temperature: 1.5 },
      label: 'name',
    },
    'prompt-templates': {
      create: (index) =>
        resources.template({
          name: createName('template', index),
          template: `t${index % 5} {{x}}`,
          type: pick(['system', 'user'], index),
          description: `d${index % 2}`,
        }),
      change: { description: 'changed', type: 'user' },
      label: 'name',
    },
    'knowledge-sources': {
      create: (index) =>
        resources.source({
          name: createName('source', index),
          ...pick(
            [
              { type: 'file' },
              { type: 'text', configuration: { text: 'x' } },
              { type: 'url', configuration: { url: 'https://example.com/' } },
            ],
            index,
          ),
        }),
      change: { name: 'changed' },
      label: 'name',
    },
    'rag-tools': {
      create: (index) =>
        resources.ragTool({
          name: createName('rag', index),
          description: `d${index % 3}`,
          chunk_size: 500 + (index % 4) * 100,
          chunk_overlap: index % 5,
          top_k: (index % 7) + 1,
        }),
      change: { description: 'changed', top_k: 9 },
      label: 'name',
    },
    'retrieval-tools': {
      create: (index) =>
        resources.retrievalTool({
          name: createName('retrieval', index),
          search_method: pick(['semantic', 'full_text', 'hybrid'], index),
          score_threshold: pick([null, 0, 0.25, 1], index),
          top_k: (index % 7) + 1,
          chunk_size: 500 + (index % 4) * 100,
        }),
      change: { description: 'changed', score_threshold: 0.5 },
      label: 'name',
    },
    conversations: {
      create: (index) => resources.conversation({ user_id: pick(['ada', 'bob', 'cleo'], index), title: `title ${index % 6}` }),
      change: { title: 'changed' },
      label: 'title',
    },
    models: {
      create: (index) =>
        resources.model({
          name: createName('model', index),
          model_id: `m${index % 9}`,
          ...pick(
            [
              { provider: 'openai' },
              { provider: 'openai-compatible', endpoint: 'http://127.0.0.1:1/v1' },
              { provider: 'anthropic', api_key: 'sk-one' },
            ],
            index,
          ),
        }),
      change: { name: 'changed', pricing: { input: 1, output: 2 } },
      label: 'name',
    },
    evaluations: {
      create: (index) => resources.evaluation({ name: createName('evaluation', index), description: `d${index % 3}` }),
      change: { description: 'changed' },
      label: 'name',
    },
    memories: {
      create: (index) =>
        resources.memory({
          content: createName('fact', index),
          user_id: pick(['local', 'ada', 'bob'], index),
          expires_at: pick([null, '2099-01-01T00:00:00.000Z', '2098-01-01T00:00:00.000Z'], index),
        }),
      change: { expires_at: '2097-01-01T00:00:00.000Z' },
    },
    'usage-thresholds': {
      create: (index) =>
        resources.threshold({
          metric: pick(['tokens', 'cost'], index),
          limit: (index % 5) * 2.5,
          period: pick(['day', 'month'], index),
          action: pick(['notify', 'block'], index >> 1),
          ...(index % 3 === 0 ? { entity_type: 'user', entity_id: `u${index}` } : {}),
        }),
      change: { limit: 77 },
    },
    'api-tools': {
      create: (index) =>
        resources.apiTool({
          name: createName('tool', index),
          url: `https://api${index % 3}.example.com/`,
          method: pick(['GET', 'POST', 'DELETE'], index),
          timeout_ms: 100 + (index % 4),
          requires_confirmation: index % 2 === 0,
          allow_private_network: index % 3 === 0,
        }),
      change: { description: 'changed', timeout_ms: 5000 },
      label: 'name',
    },
    'mcp-servers': {
      create: (index) =>
        resources.mcpServer({
          name: createName('server', index).replace(' ', '-'),
          ...pick([{ url: `https://mcp${index % 4}.example.com/` }, { url: null, command: `program${index % 2}` }], index),
          description: `d${index % 3}`,
          timeout_ms: 1_000 + (index % 4),
          memory_mb: 64 + (index % 3),
          allow_private_network: index % 4 === 0,
        }),
      change: { description: 'changed', timeout_ms: 5_000 },
    },
    'mcp-tools': {
      create: async (index) =>
        resources.mcpTool({
          mcp_server_id: await findServer(index % 2),
          tool: createName('tool', index).replace(' ', '_'),
          description: `d${index % 3}`,
        }),
      change: { description: 'changed' },
    },
    webhooks: {
      create: (index) =>
        resources.webhook({
          url: `https://hooks${index % 4}.example.com/`,
          description: `d${index % 3}`,
          enabled: index % 2 === 0,
          allow_private_network: index % 3 === 0,
        }),
      change: { enabled: false, description: 'changed' },
      label: 'description',
    },
    tokens: {
      create: (index) =>
        resources.token({
          name: createName('token', index),
          role: pick(['viewer', 'editor', 'admin'], index),
          user_id: pick([null, 'ada', 'bob'], index),
          expires_at: pick([null, '2099-01-01T00:00:00Z', '2098-01-01T00:00:00.000Z'], index),
        }),
      change: { name: 'changed' },
      label: 'name',
    },
  }
}
