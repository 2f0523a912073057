/** Uses the generated clients as their users would. It is compiled and run next to them, so their imports exist only there. */
import { client } from './hey-api/client.gen'
import * as sdk from './hey-api/sdk.gen'
import type * as hey from './hey-api/types.gen'
import type { components, paths } from './openapi-typescript'

type Schemas = components['schemas']

/** The smallest body of every request, which both clients must accept. */
export const bodies: {
  APIToolCreate: Schemas['APIToolCreate'] & hey.ApiToolCreate
  APIToolImport: Schemas['APIToolImport'] & hey.ApiToolImport
  APIToolTest: Schemas['APIToolTest'] & hey.ApiToolTest
  APIToolUpdate: Schemas['APIToolUpdate'] & hey.ApiToolUpdate
  APIToolPatch: Schemas['APIToolPatch'] & hey.ApiToolPatch
  AgentCreate: Schemas['AgentCreate'] & hey.AgentCreate
  AgentUpdate: Schemas['AgentUpdate'] & hey.AgentUpdate
  AgentPatch: Schemas['AgentPatch'] & hey.AgentPatch
  ApplyRequest: Schemas['ApplyRequest'] & hey.ApplyRequest
  BackupCreate: Schemas['BackupCreate'] & hey.BackupCreate
  ChatCompletionCreate: Schemas['ChatCompletionCreate'] & hey.ChatCompletionCreate
  Confirmation: Schemas['Confirmation'] & hey.Confirmation
  ConversationCompact: Schemas['ConversationCompact'] & hey.ConversationCompact
  ConversationCreate: Schemas['ConversationCreate'] & hey.ConversationCreate
  ConversationUpdate: Schemas['ConversationUpdate'] & hey.ConversationUpdate
  ConversationPatch: Schemas['ConversationPatch'] & hey.ConversationPatch
  DocumentContent: Schemas['DocumentContent'] & hey.DocumentContent
  DocumentCreate: Schemas['DocumentCreate'] & hey.DocumentCreate
  EmbeddingCreate: Schemas['EmbeddingCreate'] & hey.EmbeddingCreate
  EvaluationCreate: Schemas['EvaluationCreate'] & hey.EvaluationCreate
  EvaluationUpdate: Schemas['EvaluationUpdate'] & hey.EvaluationUpdate
  EvaluationPatch: Schemas['EvaluationPatch'] & hey.EvaluationPatch
  KnowledgeSourceCreate: Schemas['KnowledgeSourceCreate'] & hey.KnowledgeSourceCreate
  KnowledgeSourceUpdate: Schemas['KnowledgeSourceUpdate'] & hey.KnowledgeSourceUpdate
  KnowledgeSourcePatch: Schemas['KnowledgeSourcePatch'] & hey.KnowledgeSourcePatch
  LanguageData: Schemas['LanguageData'] & hey.LanguageData
  MCPServerAuthorize: Schemas['MCPServerAuthorize'] & hey.McpServerAuthorize
  MCPServerCreate: Schemas['MCPServerCreate'] & hey.McpServerCreate
  MCPServerPatch: Schemas['MCPServerPatch'] & hey.McpServerPatch
  MCPServerToken: Schemas['MCPServerToken'] & hey.McpServerToken
  MCPServerUpdate: Schemas['MCPServerUpdate'] & hey.McpServerUpdate
  MCPToolCreate: Schemas['MCPToolCreate'] & hey.McpToolCreate
  MCPToolPatch: Schemas['MCPToolPatch'] & hey.McpToolPatch
  MCPToolTest: Schemas['MCPToolTest'] & hey.McpToolTest
  MCPToolUpdate: Schemas['MCPToolUpdate'] & hey.McpToolUpdate
  MessageCreate: Schemas['MessageCreate'] & hey.MessageCreate
  ModelAdoption: Schemas['ModelAdoption'] & hey.ModelAdoption
  MemoryCreate: Schemas['MemoryCreate'] & hey.MemoryCreate
  MemoryPatch: Schemas['MemoryPatch'] & hey.MemoryPatch
  MemorySearch: Schemas['MemorySearch'] & hey.MemorySearch
  MemoryUpdate: Schemas['MemoryUpdate'] & hey.MemoryUpdate
  ModelCreate: Schemas['ModelCreate'] & hey.ModelCreate
  ModelUpdate: Schemas['ModelUpdate'] & hey.ModelUpdate
  ModelPatch: Schemas['ModelPatch'] & hey.ModelPatch
  PromptTemplateCreate: Schemas['PromptTemplateCreate'] & hey.PromptTemplateCreate
  PromptTemplateRender: Schemas['PromptTemplateRender'] & hey.PromptTemplateRender
  PromptTemplateUpdate: Schemas['PromptTemplateUpdate'] & hey.PromptTemplateUpdate
  PromptTemplatePatch: Schemas['PromptTemplatePatch'] & hey.PromptTemplatePatch
  RAGToolCreate: Schemas['RAGToolCreate'] & hey.RagToolCreate
  RAGToolQuery: Schemas['RAGToolQuery'] & hey.RagToolQuery
  RAGToolUpdate: Schemas['RAGToolUpdate'] & hey.RagToolUpdate
  RAGToolPatch: Schemas['RAGToolPatch'] & hey.RagToolPatch
  RecordingsCreate: Schemas['RecordingsCreate'] & hey.RecordingsCreate
  ResponseCreate: Schemas['ResponseCreate'] & hey.ResponseCreate
  RetrievalToolCreate: Schemas['RetrievalToolCreate'] & hey.RetrievalToolCreate
  RetrievalToolSearch: Schemas['RetrievalToolSearch'] & hey.RetrievalToolSearch
  RetrievalToolUpdate: Schemas['RetrievalToolUpdate'] & hey.RetrievalToolUpdate
  RetrievalToolPatch: Schemas['RetrievalToolPatch'] & hey.RetrievalToolPatch
  RunCreate: Schemas['RunCreate'] & hey.RunCreate
  SecretRotation: Schemas['SecretRotation'] & hey.SecretRotation
  SettingsUpdate: Schemas['SettingsUpdate'] & hey.SettingsUpdate
  TableQuery: Schemas['TableQuery'] & hey.TableQuery
  TestCasesCreate: Schemas['TestCasesCreate'] & hey.TestCasesCreate
  TokenCreate: Schemas['TokenCreate'] & hey.TokenCreate
  TokenUpdate: Schemas['TokenUpdate'] & hey.TokenUpdate
  TokenPatch: Schemas['TokenPatch'] & hey.TokenPatch
  UsageThresholdCreate: Schemas['UsageThresholdCreate'] & hey.UsageThresholdCreate
  UsageThresholdUpdate: Schemas['UsageThresholdUpdate'] & hey.UsageThresholdUpdate
  UsageThresholdPatch: Schemas['UsageThresholdPatch'] & hey.UsageThresholdPatch
  WebhookCreate: Schemas['WebhookCreate'] & hey.WebhookCreate
  WebhookUpdate: Schemas['WebhookUpdate'] & hey.WebhookUpdate
  WebhookPatch: Schemas['WebhookPatch'] & hey.WebhookPatch
} = {
  APIToolCreate: { name: 'weather', url: 'https://example.com/weather' },
  APIToolImport: {},
  APIToolTest: {},
  APIToolUpdate: {},
  APIToolPatch: {},
  AgentCreate: { name: 'Helper' },
  AgentUpdate: {},
  AgentPatch: {},
  ApplyRequest: { resources: [{ family: 'agents', fields: {} }] },
  BackupCreate: { path: '/backups/cadre.tar.gz' },
  ChatCompletionCreate: { model: 'Helper', messages: [{ role: 'user' }] },
  Confirmation: { tool_call_id: 'call_1' },
  ConversationCompact: {},
  ConversationCreate: { agent_id: 'agent_1' },
  ConversationUpdate: {},
  ConversationPatch: {},
  DocumentContent: { name: 'leave.md', content_base64: 'IyBMZWF2ZQ==' },
  DocumentCreate: { name: 'leave.md' },
  EmbeddingCreate: { model: 'minilm', input: 'leave' },
  EvaluationCreate: { name: 'Leave', type: 'agent', target_id: 'agent_1', test_cases: [{ input: 'How many days?' }] },
  EvaluationUpdate: {},
  EvaluationPatch: {},
  KnowledgeSourceCreate: { name: 'Handbook', type: 'file' },
  KnowledgeSourceUpdate: {},
  KnowledgeSourcePatch: {},
  LanguageData: { content_base64: 'H4sI' },
  MCPServerAuthorize: { redirect_uri: 'http://127.0.0.1:8976/callback' },
  MCPServerCreate: { name: 'files' },
  MCPServerPatch: {},
  MCPServerToken: { code: 'code', state: 'state' },
  MCPServerUpdate: {},
  MCPToolCreate: { mcp_server_id: 'mcp_1', tool: 'read_file' },
  MCPToolPatch: {},
  MCPToolTest: {},
  MCPToolUpdate: {},
  MessageCreate: {},
  ModelAdoption: { origin: 'OPENAI_API_KEY' },
  MemoryCreate: { agent_id: 'agent_1', content: 'The user works in Berlin.' },
  MemoryPatch: {},
  MemorySearch: { agent_id: 'agent_1', query: 'Where?' },
  MemoryUpdate: {},
  ModelCreate: { name: 'Llama', provider: 'ollama', model_id: 'llama3.2' },
  ModelUpdate: {},
  ModelPatch: {},
  PromptTemplateCreate: { name: 'Greeting', template: 'Be kind.' },
  PromptTemplateRender: {},
  PromptTemplateUpdate: {},
  PromptTemplatePatch: {},
  RAGToolCreate: { name: 'handbook', knowledge_source_id: 'ks_1' },
  RAGToolQuery: { query: 'leave' },
  RAGToolUpdate: {},
  RAGToolPatch: {},
  RecordingsCreate: { recordings: [{ key: '0'.repeat(64), request: {}, parts: [{}] }] },
  ResponseCreate: { model: 'Helper', input: 'How many days?' },
  RetrievalToolCreate: { name: 'find', knowledge_source_ids: ['ks_1'] },
  RetrievalToolSearch: { query: 'leave' },
  RetrievalToolUpdate: {},
  RetrievalToolPatch: {},
  RunCreate: {},
  SecretRotation: {},
  SettingsUpdate: {},
  TableQuery: { sql: 'SELECT count(*) FROM orders' },
  TestCasesCreate: { test_cases: [{ input: 'How many days?' }] },
  TokenCreate: { name: 'script', role: 'viewer' },
  TokenUpdate: {},
  TokenPatch: {},
  UsageThresholdCreate: { metric: 'tokens', limit: 1000, period: 'day' },
  UsageThresholdUpdate: {},
  UsageThresholdPatch: {},
  WebhookCreate: { url: 'https://example.com/hook', events: ['conversation.completed'] },
  WebhookUpdate: {},
  WebhookPatch: {},
}

/** Five calls and a stream with the SDK of @hey-api/openapi-ts. */
export async function callWithSdk(baseUrl: string, token: string) {
  client.setConfig({ baseUrl, auth: token, throwOnError: true })
  const template = await sdk.promptTemplatesCreate({ body: bodies.PromptTemplateCreate, throwOnError: true })
  const rendered = await sdk.promptTemplatesRender({ path: { id: template.data.data.id }, throwOnError: true })
  const agent = await sdk.agentsCreate({ body: bodies.AgentCreate, throwOnError: true })
  const conversation = await sdk.conversationsCreate({ body: { agent_id: agent.data.data.id }, throwOnError: true })
  const path = { id: conversation.data.data.id }
  const reply: hey.Message = (await sdk.messagesSend({ path, body: { message: 'Hello' }, throwOnError: true })).data.data
  const names: (string | undefined)[] = []
  let text = ''
  let last: hey.Message | undefined
  const { stream } = await sdk.messagesEvents({
    path: { ...path, message_id: reply.id },
    onSseEvent: ({ event }) => names.push(event),
  })
  for await (const data of stream) {
    if ('text' in data) text += data.text
    if ('message' in data) last = data.message
  }
  return { rendered: rendered.data.data.text, reply, conversationId: path.id, stream: { names, text, last } }
}

type ReplyEvent = paths['/api/conversations/{id}/messages']['post']['responses'][200]['content']['text/event-stream']

/** A call and a stream with the types of openapi-typescript and fetch. */
export async function callWithTypes(baseUrl: string, token: string, conversationId: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const read = async <T,>(path: keyof paths): Promise<T> => (await fetch(`${baseUrl}${path}`, { headers })).json() as Promise<T>
  const { data } = await read<paths['/api/agents']['get']['responses'][200]['content']['application/json']>('/api/agents')
  const agents: Schemas['AgentItem'][] = data
  const body: Schemas['MessageCreate'] = { message: 'Hello again', stream: true }
  const url = `${baseUrl}/api/conversations/${conversationId}/messages`
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
  const events = lines.map((line): ReplyEvent => JSON.parse(line.slice('data: '.length)))
  return {
    agents: agents.map(({ name }) => name),
    text: events.map((event) => ('text' in event ? event.text : '')).join(''),
    citations: events.flatMap((event): Schemas['Citation'][] => ('message' in event ? (event.message.citations ?? []) : [])),
  }
}
