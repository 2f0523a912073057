/** A home with resources of every family, and the values of their secrets. */

import { resolveSecrets } from '../../src/cli/as-code/resolve-secrets.ts'
import { formatResource, parseResource } from '../../src/cli/as-code/resource-yaml.ts'
import { expectData } from '../harness/expect.ts'
import type { Json, TestServer } from '../harness/test-server.ts'

export const SECRETS: Record<string, string> = {
  CADRE_MODEL_CLOUD_API_KEY: 'sk-cloud-0123456789',
  CADRE_KNOWLEDGE_SOURCE_WIKI_AUTH_USERNAME: 'wiki-reader',
  CADRE_KNOWLEDGE_SOURCE_WIKI_AUTH_PASSWORD: 'wiki-password-0123456789',
  CADRE_API_TOOL_WEATHER_HEADER_X_TRACE: 'trace-me',
  CADRE_API_TOOL_WEATHER_AUTH_TOKEN: 'bearer-token-0123456789',
  CADRE_API_TOOL_CRM_AUTH_USERNAME: 'countess',
  CADRE_API_TOOL_CRM_AUTH_PASSWORD: 'lovelace-1815',
  CADRE_API_TOOL_MAPS_AUTH_VALUE: 'maps-key-0123456789',
  CADRE_MCP_SERVER_FILES_ENV_API_TOKEN: 'mcp-token-0123456789',
  CADRE_MCP_SERVER_DESK_AUTH_TOKEN: 'desk-token-0123456789',
  CADRE_WEBHOOK_HTTPS_HOOKS_EXAMPLE_COM_CADRE_SECRET: `whsec_${Buffer.alloc(32, 9).toString('base64')}`,
}

/** Texts that serialization formats often corrupt. */
const AWKWARD_TEXTS = [
  'Line one\nline two\n\n  indented\n',
  'no newline at the end\n- looks: like\n# yaml',
  'yes',
  '1e3',
  '  spaces around  ',
  'tab\there "quotes" \'single\' \\ back',
  '{{variable}} ${env:HOME} *alias &anchor !tag %',
  'ünïcødé 手册 🙂',
  'carriage\r\nreturn',
  'turned \u202eround, \u2028ended, \ufeffmarked and \u001b[31mcoloured',
  '---\nnot a document\n...',
]

export async function createResources(service: TestServer): Promise<void> {
  const make = (path: string, body: Json): Promise<Json> => expectData(service.post(path, body), 201)
  const cloud = await make('/models', {
    name: 'Cloud',
    provider: 'openai',
    model_id: 'gpt-4o',
    api_key: SECRETS.CADRE_MODEL_CLOUD_API_KEY,
    pricing: { input: 0.5, output: 1.5 },
  })
  const local = await make('/models', {
    name: 'Local',
    provider: 'openai-compatible',
    model_id: 'llama',
    endpoint: 'http://127.0.0.1:11434/v1',
    context_window: 4096,
  })
  await make('/models', { name: 'Again', provider: 'replay', model_id: cloud.id })
  const tone = await make('/prompt-templates', {
    name: 'Tone',
    template: 'You help {{company}}.\nBe {{mood}}.',
    description: AWKWARD_TEXTS[0],
  })
  const handbook = await make('/knowledge-sources', {
    name: 'Handbook',
    description: 'Rules for all staff.',
    folder_descriptions: { hr: 'Leave and pay.' },
    type: 'file',
    configuration: { file_types: ['md'] },
  })
  const notes = await make('/knowledge-sources', { name: 'Notes', type: 'text', configuration: { text: AWKWARD_TEXTS.join('\n') } })
  await make('/knowledge-sources', {
    name: 'Site',
    type: 'url',
    configuration: { url: 'https://example.com/', mode: 'site', schedule: '0 3 * * *' },
  })
  const { CADRE_KNOWLEDGE_SOURCE_WIKI_AUTH_USERNAME: reader, CADRE_KNOWLEDGE_SOURCE_WIKI_AUTH_PASSWORD: word } = SECRETS
  const wiki = { repository: 'https://example.com/wiki.git', branch: 'main' }
  await make('/knowledge-sources', {
    name: 'Wiki',
    type: 'git',
    configuration: wiki,
    auth: { type: 'basic', username: reader, password: word },
  })
  const rag = await make('/rag-tools', {
    name: 'handbook',
    knowledge_source_id: handbook.id,
    model_id: cloud.id,
    top_k: 8,
    rerank: false,
    expose_mcp: true,
  })
  const find = await make('/retrieval-tools', {
    name: 'handbook',
    knowledge_source_ids: [handbook.id, notes.id],
    search_method: 'full_text',
    rerank: true,
    filters: { type: ['md', 'txt'] },
    embedding_model: local.id,
    expose_mcp: true,
  })
  const weather = await make('/api-tools', {
    name: 'weather',
    url: 'https://api.example.com/{city}',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    headers: { 'X-Trace': SECRETS.CADRE_API_TOOL_WEATHER_HEADER_X_TRACE },
    auth: { type: 'bearer', token: SECRETS.CADRE_API_TOOL_WEATHER_AUTH_TOKEN },
    expose_mcp: true,
  })
  const { CADRE_API_TOOL_CRM_AUTH_USERNAME: username, CADRE_API_TOOL_CRM_AUTH_PASSWORD: password } = SECRETS
  await make('/api-tools', {
    name: 'crm',
    url: 'https://crm.example.com/',
    method: 'POST',
    auth: { type: 'basic', username, password },
    requires_confirmation: true,
  })
  await make('/api-tools', {
    name: 'maps',
    url: 'https://maps.example.com/',
    auth: { type: 'api_key', name: 'key', in: 'query', value: SECRETS.CADRE_API_TOOL_MAPS_AUTH_VALUE },
  })
  const files = await make('/mcp-servers', {
    name: 'files',
    command: 'files-server',
    args: ['--root', '/srv', AWKWARD_TEXTS[2]],
    env: { API_TOKEN: SECRETS.CADRE_MCP_SERVER_FILES_ENV_API_TOKEN },
  })
  await make('/mcp-servers', {
    name: 'desk',
    url: 'https://mcp.example.com/mcp',
    auth: { type: 'bearer', token: SECRETS.CADRE_MCP_SERVER_DESK_AUTH_TOKEN },
  })
  const readFile = await make('/mcp-tools', {
    mcp_server_id: files.id,
    tool: 'read_file',
    description: AWKWARD_TEXTS[0],
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
    requires_confirmation: false,
  })
  const helper = await make('/agents', {
    name: 'Helper',
    model_id: cloud.id,
    tools: [rag.id, find.id, weather.id, readFile.id],
    prompt_template_id: tone.id,
    variables: { company: 'Acme', mood: 'kind' },
    topics: ['leave', { name: 'travel', description: 'Trains', instructions: AWKWARD_TEXTS[1] }],
    temperature: 0.2,
  })
  for (const [index, text] of AWKWARD_TEXTS.entries())
    await make('/agents', { name: `Awkward ${index}`, system_prompt: text, description: text, variables: { text } })
  const smoke = await make('/evaluations', {
    name: 'Smoke',
    type: 'agent',
    target_id: helper.id,
    scorers: ['contains', { type: 'llm_judge', model_id: cloud.id, threshold: 0.5 }],
    test_cases: [
      { input: 'Hello?', expected_output: 'hi', metadata: { kind: 'greeting' }, scorers: [{ type: 'llm_judge', model_id: local.id }] },
      { input: '0' },
    ],
    repeats: 2,
  })
  await make('/evaluations', {
    name: 'RAG',
    type: 'rag_tool',
    target_id: rag.id,
    test_cases: [{ input: 'Leave?', expected_output: 'days' }],
  })
  await make('/usage/thresholds', { metric: 'cost', limit: 10, period: 'month', action: 'block' })
  await make('/usage/thresholds', {
    entity_type: 'agent',
    entity_id: helper.id,
    metric: 'tokens',
    limit: 2000,
    period: 'day',
    action: 'block',
  })
  await make('/usage/thresholds', { entity_type: 'agent', entity_id: helper.id, metric: 'tokens', limit: 1000, period: 'day' })
  await make('/usage/thresholds', { entity_type: 'user', entity_id: 'ada', metric: 'tokens', limit: 1, period: 'day' })
  await make('/usage/thresholds', { entity_type: 'evaluation', entity_id: smoke.id, metric: 'tokens', limit: 5, period: 'day' })
  await make('/webhooks', {
    url: 'https://hooks.example.com/cadre',
    events: ['evaluation.finished', 'conversation.completed'],
    enabled: false,
    secret: SECRETS.CADRE_WEBHOOK_HTTPS_HOOKS_EXAMPLE_COM_CADRE_SECRET,
  })
  await expectData(service.put('/settings', { default_model_id: local.id, conversation_idle_minutes: 90 }))
}

/** Returns the files of an export, as the CLI writes them. */
export async function formatResources(resources: Json[]): Promise<Record<string, string>> {
  return Object.fromEntries(await Promise.all(resources.map(async ({ file, fields }) => [file, await formatResource(fields)])))
}

/** Formats and parses an export as the CLI does, with secrets from the environment or references to unset variables. */
export async function declareResources(resources: Json[], environment: Record<string, string> = SECRETS): Promise<Json[]> {
  const texts = await formatResources(resources)
  return Promise.all(
    resources.map(async ({ family, file }) => ({
      family,
      file,
      fields: resolveSecrets(family, await parseResource(texts[file] as string, file), file, (name) => environment[name]),
    })),
  )
}
