/** A home that ten users share, and the requests with which one of them floods it. */
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json } from '../../test/harness/test-server.ts'
import { waitFor } from '../../test/harness/wait-for.ts'
import type { Client, ClientResponse } from './client.ts'
import type { RunningDaemon } from './daemon.ts'

const DOCUMENTS = 200
const CONVERSATIONS = 300
const FOLDER_FILES = 300
/** Files that change between two syncs. */
const CHANGED_FILES = 20
const TEST_CASES = 100
const WORDS = ['archive', 'lantern', 'harbour', 'leave', 'invoice', 'printer', 'garden', 'train', 'copper', 'kitchen', 'window', 'bicycle']

export interface Office {
  /** Tokens of nine editors. */
  tokens: readonly string[]
  search: string
  rerank: string
  rag: string
  agent: string
  uploads: string
  folder: string
  folderPath: string
  evaluation: string
}

/** Sends a request with the token of a user. */
export type Send = (method: string, path: string, body?: object | string) => Promise<ClientResponse>

export interface Flood {
  name: string
  send(send: Send): Promise<ClientResponse>
  /** Ends what the requests have started. */
  stop?(client: Client): Promise<unknown>
}

const pick = (number: number): string => WORDS[number % WORDS.length] as string
/** A paragraph that no other one equals. */
const writeText = (number: number): string =>
  `# The ${pick(number)} of room ${number}\n\nMarta looks after the ${pick(number)} of room ${number}. ` +
  `It is opened at ${number % 12} o'clock by the ${pick(number * 7)} team, ` +
  `and ${pick(number * 5)} ${number} is kept beside it for visitors who ask.\n`
/** Written once, because the client must not wait for itself. */
const EMBEDDINGS = JSON.stringify({ model: 'minilm', input: Array.from({ length: 2_048 }, (_, number) => writeText(number)) })
const LONG_TEXT = Array.from({ length: 200 }, (_, number) => writeText(number)).join('\n')
let asked = 0
/** A question that was not asked before, because answers and embeddings may be stored. */
const writeQuestion = (): string => `Who looks after the ${pick(asked)} of room ${asked++}?`

export async function prepareOffice({ client }: RunningDaemon, directory: string): Promise<Office> {
  const source = await client.create('/knowledge-sources', { name: 'Rooms', type: 'file' })
  for (let number = 0; number < DOCUMENTS; number++)
    await client.create(`/knowledge-sources/${source.id}/documents`, { name: `${number}.md`, content: writeText(number) })
  const uploads = await client.create('/knowledge-sources', { name: 'Uploads', type: 'file' })
  const folderPath = join(directory, 'folder')
  await writeFolder(folderPath, FOLDER_FILES)
  const folder = await client.create('/knowledge-sources', { name: 'Folder', type: 'folder', configuration: { path: folderPath } })
  const ids = { knowledge_source_ids: [source.id] }
  const search = await client.create('/retrieval-tools', { name: 'search', ...ids })
  const rerank = await client.create('/retrieval-tools', { name: 'rerank', rerank: true, ...ids })
  const rag = await client.create('/rag-tools', { name: 'rag', knowledge_source_id: source.id })
  for (const { id } of [uploads, folder]) await client.create('/rag-tools', { name: `of ${id}`, knowledge_source_id: id })
  const agent = await client.create('/agents', { name: 'Porter', tools: [rag.id] })
  const test_cases = Array.from({ length: TEST_CASES }, () => ({ input: writeQuestion(), expected_output: 'Marta' }))
  const evaluation = await client.create('/evaluations', {
    name: 'Questions',
    type: 'rag_tool',
    target_id: rag.id,
    test_cases,
    concurrency: 64,
  })
  const tokens = await Promise.all(Array.from({ length: 9 }, (_, user) => createToken(client, `user${user}`)))
  await Promise.all(
    Array.from({ length: CONVERSATIONS }, async () => {
      const { id } = await client.create('/conversations', { agent_id: agent.id })
      await client.post(`/conversations/${id}/messages`, { message: 'hello' })
    }),
  )
  await waitFor(
    async () => {
      const { status, progress } = (await client.get(`/knowledge-sources/${source.id}`)).data as Json
      return status === 'active' && progress === null ? true : undefined
    },
    { description: 'the documents to be indexed' },
  )
  return {
    tokens,
    search: search.id,
    rerank: rerank.id,
    rag: rag.id,
    agent: agent.id,
    uploads: uploads.id,
    folder: folder.id,
    folderPath,
    evaluation: evaluation.id,
  }
}

/** Returns the token of an editor. */
export async function createToken(client: Client, user_id: string): Promise<string> {
  return (await client.create('/tokens', { name: user_id, role: 'editor', user_id })).token
}

/** Changes the first files of the folder. */
async function writeFolder(path: string, files: number): Promise<void> {
  await mkdir(path, { recursive: true })
  for (let file = 0; file < files; file++) await writeFile(join(path, `${file}.md`), `${writeText(file)}\n${randomUUID()}\n`)
}

/** What the others do, by name. */
export const createRequests = ({ search, rag }: Office): Record<string, (send: Send) => Promise<ClientResponse>> => ({
  list: (send) => send('GET', '/api/agents?limit=10'),
  search: (send) => send('POST', `/api/retrieval-tools/${search}/search`, { query: writeQuestion() }),
  ask: (send) => send('POST', `/api/rag-tools/${rag}/query`, { query: writeQuestion() }),
})

async function remove(client: Client, path: string): Promise<void> {
  const { status, text } = await client.call('DELETE', path)
  if (status >= 300) throw new Error(`DELETE ${path} returned ${status}: ${text.slice(0, 300)}`)
}

export const createFloods = (office: Office): readonly Flood[] => [
  {
    name: 'embeddings',
    send: (send) => send('POST', '/v1/embeddings', EMBEDDINGS),
  },
  { name: 'search', send: (send) => send('POST', `/api/retrieval-tools/${office.search}/search`, { query: writeQuestion() }) },
  { name: 'rerank', send: (send) => send('POST', `/api/retrieval-tools/${office.rerank}/search`, { query: writeQuestion(), top_k: 100 }) },
  { name: 'ask', send: (send) => send('POST', `/api/rag-tools/${office.rag}/query`, { query: writeQuestion() }) },
  { name: 'messages', send: (send) => sendMessage(send, office) },
  {
    name: 'uploads',
    send: (send) =>
      send('POST', `/api/knowledge-sources/${office.uploads}/documents`, {
        name: `${randomUUID()}.md`,
        content: LONG_TEXT,
      }),
    stop: (client) => remove(client, `/knowledge-sources/${office.uploads}?force=true`),
  },
  {
    name: 'syncs',
    send: async (send) => {
      await writeFolder(office.folderPath, CHANGED_FILES)
      return send('POST', `/api/knowledge-sources/${office.folder}/sync`)
    },
    stop: (client) => remove(client, `/knowledge-sources/${office.folder}?force=true`),
  },
  {
    name: 'evaluations',
    send: (send) => send('POST', `/api/evaluations/${office.evaluation}/run`, {}),
    stop: (client) => remove(client, `/evaluations/${office.evaluation}`),
  },
  { name: 'exports', send: (send) => send('GET', '/api/export') },
  { name: 'conversation search', send: (send) => send('GET', `/api/conversations?limit=100&q=${encodeURIComponent('documents of room')}`) },
]

async function sendMessage(send: Send, { agent }: Office): Promise<ClientResponse> {
  const created = await send('POST', '/api/conversations', { agent_id: agent })
  if (created.status >= 300) return created
  return send('POST', `/api/conversations/${created.data.id}/messages`, { message: writeQuestion() })
}
