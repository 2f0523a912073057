/** SQL of users, MCP clients and models that reads, writes or computes what it must not. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TOKEN } from '../../test/harness/daemon.ts'
import { ScriptedProvider, streamReply, streamText } from '../../test/harness/scripted-provider.ts'
import { formatMegabytes, openDaemon, type RunningDaemon, readMemory, withFolder } from '../support/daemon.ts'
import type { Scenario } from '../support/scenario.ts'
import { formatSlowest, watchResponses } from '../support/watch-responses.ts'

/** Of a file outside the home and of the table of another source. No answer may contain it. */
const SECRET = 'mirabelle-4711'
/** A query is ended after five seconds; starting the next process takes a while on a busy machine. */
const MAX_QUERY_MS = 30_000
const MAX_WAIT_MS = 5_000
const ROWS = 500
const MAX_MEMORY = 400 * 1024 * 1024

interface Target {
  daemon: RunningDaemon
  provider: ScriptedProvider
  folder: string
  sourceId: string
  otherId: string
  agentId: string
}

export const sqlQueries: Scenario = {
  name: 'sql-queries',
  promise: 'SQL of a user or a model reads only the tables of its source, changes nothing, and ends after five seconds.',
  runsAlone: true,
  run: (options) =>
    withFolder(async (folder) => {
      const target = await createTarget(folder)
      const { daemon } = target
      const violations: string[] = []
      try {
        const before = listFiles(folder)
        const others = watchResponses(daemon.url)
        const [forbidden, expensive] = [listForbidden(target), listExpensive()]
        const run = options.scale < 1 ? expensive.filter((_, index) => index % 3 === 0) : expensive
        const attack = async (way: keyof typeof WAYS, queries: readonly string[]) => {
          for (const sql of queries) {
            const startedAt = performance.now()
            const { isAnswered, failure, text } = await WAYS[way](target, sql)
            const elapsedMs = performance.now() - startedAt
            const name = `${way}: ${sql.slice(0, 100)}`
            if (failure !== undefined) violations.push(`${name}: ${failure}`)
            if (text.includes(SECRET)) violations.push(`${name} returned what it must not read`)
            if (isAnswered && forbidden.includes(sql)) violations.push(`${name} was run: ${text.slice(0, 200)}`)
            if (elapsedMs > MAX_QUERY_MS) violations.push(`${name} took ${Math.round(elapsedMs)} ms`)
          }
        }
        // Two expensive queries at a time, because most of them take five seconds.
        const lanes = [0, 1].map((lane) => run.filter((_, index) => index % 2 === lane))
        await Promise.all(lanes.map((queries) => attack('REST', queries)))
        for (const way of Object.keys(WAYS) as (keyof typeof WAYS)[])
          await attack(way, way === 'REST' ? forbidden : [...forbidden, ...run.slice(0, 1)])
        for (const [way, call] of Object.entries(WAYS)) {
          const { isAnswered, text } = await call(target, 'select count(*) + 4000 as total from orders')
          if (!isAnswered || !text.includes('4003')) violations.push(`${way}: a valid query returned ${text.slice(0, 200)}`)
        }
        const written = listFiles(folder).filter((file) => !before.includes(file))
        if (written.length > 0) violations.push(`files were written: ${written.join(', ')}`)
        const memory = readMemory(daemon.child.pid, 'VmHWM')
        if (memory > MAX_MEMORY) violations.push(`the daemon used ${formatMegabytes(memory)}`)
        const times = await others.stop()
        violations.push(...times.failures)
        if (times.slowestMs > MAX_WAIT_MS) violations.push(`another client waited ${Math.round(times.slowestMs)} ms`)
        const amount = `${forbidden.length} forbidden and ${run.length} expensive queries by ${Object.keys(WAYS).join(', ')}`
        return { amount, figure: `peak memory ${formatMegabytes(memory)}; ${formatSlowest(times)}`, violations }
      } finally {
        await daemon.kill()
        await target.provider.close()
      }
    }),
}

async function createTarget(folder: string): Promise<Target> {
  writeFileSync(join(folder, 'secret.txt'), SECRET)
  const daemon = await openDaemon(join(folder, 'home'))
  const { client } = daemon
  const provider = await ScriptedProvider.start('openai', streamText('Hello.'))
  const createSource = async (name: string, documents: Record<string, string>) => {
    const { id } = await client.create('/knowledge-sources', { name, type: 'file' })
    for (const [document, content] of Object.entries(documents))
      await client.create(`/knowledge-sources/${id}/documents`, { name: document, content })
    // Builds the tables.
    await client.get(`/knowledge-sources/${id}/tables`)
    return id as string
  }
  const otherId = await createSource('payroll', { 'salaries.csv': `Name,Salary\nAda,${SECRET}\nBob,2\n` })
  const numbers = Array.from({ length: ROWS }, (_, index) => `${index},${'a'.repeat(40)}${index}`)
  const sourceId = await createSource('sales', {
    'orders.csv': 'Id,Status,Amount\n1,cancelled,0.1\n2,shipped,5\n3,cancelled,0.2\n',
    'numbers.csv': `Id,Text\n${numbers.join('\n')}\n`,
  })
  const tool = await client.create('/retrieval-tools', { name: 'sales', knowledge_source_ids: [sourceId] })
  const model = await client.create('/models', { name: 'scripted', ...provider.model })
  const agent = await client.create('/agents', { name: 'analyst', model_id: model.id, tools: [tool.id] })
  return { daemon, provider, folder, sourceId, otherId, agentId: agent.id }
}

interface Answer {
  isAnswered: boolean
  text: string
  /** Why the request failed instead of the query. */
  failure?: string
}

/** Each way in which SQL reaches the tables. */
const WAYS: Record<'REST' | 'MCP' | 'tool call', (target: Target, sql: string) => Promise<Answer>> = {
  REST: async ({ daemon, sourceId }, sql) => {
    const { status, text } = await daemon.client.post(`/knowledge-sources/${sourceId}/tables/query`, { sql })
    return { isAnswered: status === 200, text, ...(status >= 500 ? { failure: `status ${status}: ${text.slice(0, 200)}` } : {}) }
  },
  MCP: async ({ daemon, sourceId }, sql) => {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'query_table', arguments: { source: sourceId, sql } } }
    const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }
    const response = await fetch(`${daemon.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify(request),
    })
    const text = await response.text()
    const failure = response.status === 200 ? {} : { failure: `status ${response.status}: ${text.slice(0, 200)}` }
    return { isAnswered: !/"isError":\s*true|"error":/.test(text), text, ...failure }
  },
  'tool call': async ({ daemon, provider, agentId }, sql) => {
    const call = { id: 'call_1', name: 'query_table', arguments: { sql } }
    provider.script = [streamReply({ calls: [call] }), streamText('done')]
    const { id } = await daemon.client.create('/conversations', { agent_id: agentId })
    const { status, data, text } = await daemon.client.post(`/conversations/${id}/messages`, { message: 'How many?' })
    const [used] = data?.tool_calls ?? []
    if (!used) return { isAnswered: false, text, failure: `status ${status}: ${text.slice(0, 200)}` }
    return { isAnswered: used.error === undefined || used.error === null, text: JSON.stringify(used.result ?? '') }
  },
}

/** Queries that read or change something else, or call what they must not. */
function listForbidden({ folder, daemon, otherId, sourceId }: Target): string[] {
  const file = join(folder, 'secret.txt')
  const other = join(daemon.home, 'work', otherId, 'tables.db')
  const own = findFile(daemon.home, sourceId)
  return [
    `attach '${other}' as other`,
    `select * from (attach '${findFile(daemon.home, otherId)}' as other)`,
    'select * from other.salaries',
    'select * from salaries',
    'pragma database_list',
    'select * from pragma_database_list',
    "select * from pragma_table_info('orders')",
    'pragma writable_schema = 1',
    'pragma journal_mode = delete',
    'select sql from sqlite_master',
    'select * from sqlite_schema',
    'select * from cadre_documents',
    'select * from cadre_values_content',
    "select * from cadre_values where cadre_values match 'a'",
    `select readfile('${file}')`,
    `SELECT ReadFile('${file}') FROM orders`,
    `select (select readfile('${file}'))`,
    `with x as (select readfile('${file}') as t) select t from x`,
    `select max(readfile('${file}')) from orders group by 1`,
    `select id from orders order by readfile('${file}')`,
    `select id from orders where readfile('${file}') like 'm%'`,
    `select writefile('${join(folder, 'written.txt')}', 'x')`,
    `select * from fsdir('${folder}')`,
    `select * from zipfile('${file}')`,
    `select edit('x')`,
    `select load_extension('${file}')`,
    "select fts3_tokenizer('simple')",
    "select fts3_tokenizer('simple', x'00')",
    'select sqlite_compileoption_get(0)',
    'select randomblob(1000000000)',
    'select zeroblob(1000000000)',
    'select hex(zeroblob(500000000))',
    'select libsql_wal_frame_count()',
    "select vector_extract(vector('[1]'))",
    "select * from json_each('[1]')",
    'select * from generate_series(1, 9)',
    'select * from dbstat',
    'insert into orders values (4, 5, 6, 7)',
    'update orders set status = 1',
    'delete from orders',
    'delete from orders returning *',
    'drop table orders',
    'create table t (a)',
    'create temp table t as select * from orders',
    'select 1; drop table orders',
    'begin immediate',
    'vacuum',
    `vacuum into '${join(folder, 'copy.db')}'`,
    'reindex',
    'detach main',
    `/* */ attach '${own}' as x`,
    'explain select * from orders',
    'values (1); pragma user_version = 9',
    'select 1 union all select sql from sqlite_master',
    'select 1\u0000; drop table orders',
  ]
}

/** Queries that are valid, and take very long or very much memory. */
const listExpensive = (): string[] => [
  'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n',
  'select count(*) from numbers a, numbers b, numbers c, numbers d',
  "with recursive n(t) as (select 'a' union all select t || t from n) select max(length(t)) from n",
  `select count(*) from numbers where text like '${'%a'.repeat(2_000)}b'`,
  `select count(*) from numbers where text glob '${'*a'.repeat(2_000)}b'`,
  `select count(*) from numbers where text like '${'%'.repeat(15_000)}'`,
  "select printf('%1000000000d', 1)",
  "select length(replace(printf('%10000000d', 1), ' ', printf('%1000d', 1)))",
  'select group_concat(a.text) from numbers a, numbers b, numbers c',
  'select a.text from numbers a, numbers b, numbers c order by b.text || a.text',
  'select a.text || b.text || c.text as t from numbers a, numbers b, numbers c group by t',
  `select ${'('.repeat(900)}1${')'.repeat(900)}`,
  `select ${Array(1_900).fill('1').join(' + ')}`,
  `select ${Array(1_000).fill('(select count(*) from numbers)').join(' + ')}`,
]

const findFile = (home: string, sourceId: string): string =>
  listFiles(home).find((path) => path.includes(sourceId) && path.endsWith('tables.db')) ?? ''

/** SQLite creates and removes the files of its log. */
const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:txt|db)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => existsSync(path) && readFileSync(path).length > 0)
