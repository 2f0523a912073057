/** Checks after the chaos that everything acknowledged exists once, and that nothing was indexed, billed or sent twice. */
import type { DatabaseReader } from '../../daemon/store/database.ts'
import type { Storage } from '../../daemon/store/objects/open-bucket.ts'
import type { Json } from '../../test/harness/test-server.ts'
import { readTableRows } from '../../test/knowledge/knowledge-fixture.ts'
import type { ScriptedEmbedder } from '../../test/knowledge/scripted-embedder.ts'
import type { Receiver } from '../../test/webhooks/receiver.ts'
import type { ChaosClient } from './client.ts'
import { type Conversations, formatReply } from './conversations.ts'
import type { Agents, Documents, Evaluations } from './load.ts'
import type { NumberedProvider } from './provider.ts'

/** Returns the values that occur more than once. */
function findRepeated<T>(items: readonly T[], format: (item: T) => string): string[] {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(format(item), (counts.get(format(item)) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > 1).map(([value, count]) => `${value} (${count} times)`)
}

export async function checkAgents(client: ChaosClient, { all }: Agents): Promise<string[]> {
  const found = await client.list('/agents')
  const problems = findRepeated(found, ({ name }) => name).map((name) => `agent ${name} exists repeatedly`)
  for (const { id, name, maxTokens, isDeleted } of all) {
    const { status, data: agent } = await client.get(`/agents/${id}`, [404])
    if (isDeleted && status !== 404) problems.push(`agent ${name} exists after its deletion`)
    if (!isDeleted && (agent?.max_tokens ?? 0) < maxTokens) problems.push(`agent ${name} has ${agent?.max_tokens} instead of ${maxTokens}`)
  }
  return problems
}

export async function checkConversations(client: ChaosClient, { all }: Conversations): Promise<string[]> {
  const problems = findRepeated(await client.list('/conversations'), ({ title }) => title).map((title) => `${title} exists repeatedly`)
  for (const { id, messages, isCompleted } of all) {
    const conversation = (await client.get(`/conversations/${id}`)).data
    if (isCompleted && conversation.status !== 'completed') problems.push(`${conversation.title} is not completed`)
    const found = conversation.messages as Json[]
    for (const { text, replyId } of messages) {
      const questions = found.filter(({ role, content }) => role === 'user' && content === text)
      const replies = found.filter(({ role, content }) => role === 'assistant' && content === formatReply(text))
      if (replyId === undefined) continue // was not acknowledged
      if (questions.length !== 1 || replies.length !== 1 || replies[0].id !== replyId)
        problems.push(`message ${text} exists ${questions.length} times, with ${replies.length} replies`)
    }
    if (found.length > 2 * messages.length)
      problems.push(`conversation ${id} has ${found.length} messages instead of ${2 * messages.length}`)
  }
  return problems
}

/** Reads the tables of the index with a connection of its own. */
export async function checkDocuments(
  client: ChaosClient,
  reader: DatabaseReader,
  storage: Storage,
  documents: Documents,
): Promise<string[]> {
  const { sourceId, current, removed } = documents
  const problems: string[] = []
  const found = await client.list(`/knowledge-sources/${sourceId}/documents`)
  const byName = new Map(found.map((document) => [document.name, document]))
  if (byName.size !== found.length) problems.push(`source ${sourceId} has documents with the same name`)
  for (const [name, { id, content }] of current) {
    const document = byName.get(name)
    if (document?.id !== id || document.size !== Buffer.byteLength(content))
      problems.push(`document ${name} of ${sourceId} is not the acknowledged one`)
    else if (document.status !== 'indexed') problems.push(`document ${name} of ${sourceId} is ${document.status}: ${document.error}`)
  }
  for (const { id, name } of found) if (removed.has(id)) problems.push(`document ${name} of ${sourceId} exists after its deletion`)
  const indexes = await reader.all<{ id: string }>('SELECT id FROM indexes WHERE knowledge_source_id = ?', [sourceId])
  for (const { id } of indexes)
    for (const side of ['text', 'vectors'] as const) {
      const rows = await readTableRows('', `${id}-${side}`, storage)
      for (const row of findRepeated(rows, (row) => `${row.document_id} ${row.id}`))
        problems.push(`passage ${row} is in ${id}-${side} repeatedly`)
      for (const document of found) {
        const count = rows.filter(({ document_id }) => document_id === document.id).length
        if (count !== document.chunks) problems.push(`${document.name} has ${count} rows in ${id}-${side} instead of ${document.chunks}`)
      }
      const known = new Set(found.map((document) => document.id))
      const left = rows.filter(({ document_id }) => !known.has(document_id)).length
      if (left > 0) problems.push(`${id}-${side} has ${left} rows of deleted documents`)
      if (side === 'text')
        for (const { content = '', document_id } of rows) {
          const document = found.find((each) => each.id === document_id)
          const expected = document && current.get(document.name)
          if (expected && !expected.content.includes(content.trim().split('\n').at(-1) ?? ''))
            problems.push(`${document.name} has a passage of an earlier version`)
        }
    }
  if (indexes.length === 0) problems.push(`source ${sourceId} has no index`)
  return problems
}

export async function checkEvaluations(client: ChaosClient, reader: DatabaseReader, { all }: Evaluations): Promise<string[]> {
  const problems: string[] = []
  for (const { evaluationId, runId } of all) {
    const run = (await client.get(`/evaluations/${evaluationId}/runs/${runId}`)).data
    const rows = await reader.all('SELECT 1 FROM evaluation_results WHERE run_id = ?', [runId])
    if (run.status !== 'completed' || rows.length !== run.summary.total || run.summary.passed !== run.summary.total)
      problems.push(`run ${runId} is ${run.status} with ${rows.length} results: ${JSON.stringify(run.summary)} ${run.error ?? ''}`)
  }
  return problems
}

/** Every completed conversation and every run has one event, which was sent with one id. */
export async function checkEvents(
  reader: DatabaseReader,
  receiver: Receiver,
  { all }: Conversations,
  { all: runs }: Evaluations,
): Promise<string[]> {
  const formatSubject = (body: string) => {
    const { type, data } = JSON.parse(body) as Json
    return `${type} of ${data.run_id ?? data.conversation_id}`
  }
  const stored = await reader.all<{ id: string; body: string }>('SELECT id, body FROM events')
  const problems = findRepeated(stored, ({ body }) => formatSubject(body)).map((event) => `${event} has several ids`)
  const ids = new Set(stored.map(({ id }) => id))
  const sent = new Map<string, string>()
  for (const { id, body } of receiver.received) {
    const subject = formatSubject(body)
    if (!ids.has(id)) problems.push(`${subject} was sent as ${id}, which is no stored event`)
    if ((sent.get(subject) ?? id) !== id) problems.push(`${subject} was sent as ${id} and ${sent.get(subject)}`)
    sent.set(subject, id)
  }
  const expected = [
    ...all.filter(({ isCompleted }) => isCompleted).map(({ id }) => `conversation.completed of ${id}`),
    ...runs.map(({ runId }) => `evaluation.finished of ${runId}`),
  ]
  for (const subject of expected) if (!sent.has(subject)) problems.push(`${subject} was not sent`)
  return problems
}

interface Call {
  id: string
  kind: string
  status: string
  message_id: string | null
  input_tokens: number
  output_tokens: number
  estimated: number
}

/** Each call reported another number of tokens, so that a number in two rows was billed twice. */
export async function checkUsage(
  reader: DatabaseReader,
  provider: NumberedProvider,
  embedder: ScriptedEmbedder,
  { all }: Conversations,
): Promise<string[]> {
  const calls = await reader.all<Call>('SELECT id, kind, status, message_id, input_tokens, output_tokens, estimated FROM usage_calls')
  const reported = calls.filter(({ estimated, input_tokens }) => !estimated && input_tokens >= provider.firstNumber)
  const problems = findRepeated(reported, ({ input_tokens }) => String(input_tokens)).map((call) => `call ${call} was billed repeatedly`)
  for (const { id, input_tokens } of reported)
    if (!provider.isCall(input_tokens)) problems.push(`${id} has tokens of no call: ${input_tokens}`)
  const embedded = calls.filter(({ kind, status }) => kind === 'embedding' && status === 'done').length
  if (embedded > embedder.requests) problems.push(`${embedded} calls of the embedding model were billed instead of ${embedder.requests}`)
  const open = calls.filter(({ status }) => status === 'open').length
  if (open > 0) problems.push(`${open} calls are still open`)
  const byMessage = new Map<string, Call[]>()
  for (const call of calls) if (call.message_id) byMessage.set(call.message_id, [...(byMessage.get(call.message_id) ?? []), call])
  for (const { replyId } of all.flatMap(({ messages }) => messages)) {
    const rows = replyId === undefined ? [] : (byMessage.get(replyId) ?? [])
    if (replyId !== undefined && (rows.length !== 1 || rows[0]?.status !== 'done'))
      problems.push(`reply ${replyId} has ${rows.length} calls: ${rows.map(({ status }) => status).join(', ')}`)
  }
  const [days] = await reader.all<{ calls: number; tokens: number }>(
    "SELECT sum(calls) AS calls, sum(input_tokens + output_tokens) AS tokens FROM usage_days WHERE entity_type = '' AND entity_id = ''",
  )
  const tokens = calls.reduce((sum, call) => sum + call.input_tokens + call.output_tokens, 0)
  if (days?.calls !== calls.length || days.tokens !== tokens)
    problems.push(`the day has ${days?.calls} calls and ${days?.tokens} tokens; its rows are ${calls.length} calls and ${tokens} tokens`)
  return problems
}
