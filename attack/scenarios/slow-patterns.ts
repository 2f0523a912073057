/** Inputs made for super-linear work: every request is answered or rejected, and others are served meanwhile. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../../test/harness/wait-for.ts'
import { openDaemon, type RunningDaemon, withFolder } from '../support/daemon.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'
import { formatSlowest, watchResponses } from '../support/watch-responses.ts'

/** Others may wait for a response, but not for minutes. */
const MAX_WAIT_MS = 5_000
const REQUEST_TIMEOUT_MS = 60_000
const GLOBS = [
  `${'{a,aa}'.repeat(8)}c.md`,
  `${'*a'.repeat(60)}c.md`,
  `${'**/'.repeat(60)}c.md`,
  `${'{a,aa}'.repeat(40)}c.md`,
  '[a-z]'.repeat(180),
]

interface SlowRequest {
  name: string
  path: string
  body: unknown
}

export const slowPatterns: Scenario = {
  name: 'slow-patterns',
  promise: 'No text, pattern or query blocks the daemon.',
  runsAlone: true,
  run: (options) =>
    withFolder(async (folder) => {
      const length = scaleAmount(100_000, options, 2_000)
      const daemon = await openDaemon(join(folder, 'home'))
      const violations: string[] = []
      let slowestMs = 0
      let blocking = { name: 'the first request', ms: 0 }
      try {
        const others = watchResponses(daemon.url)
        const requests = await createRequests(daemon, length)
        for (const { name, path, body } of requests) {
          const startedAt = performance.now()
          const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
          const response = await daemon.client.post(path, body, { signal }).catch((error: Error) => error)
          const elapsedMs = performance.now() - startedAt
          slowestMs = Math.max(slowestMs, elapsedMs)
          if (others.times.slowestMs > blocking.ms) blocking = { name, ms: others.times.slowestMs }
          if (response instanceof Error) violations.push(`${name} failed after ${Math.round(elapsedMs)} ms: ${response.message}`)
          else if (response.status >= 500) violations.push(`${name} returned ${response.status}: ${response.text.slice(0, 300)}`)
        }
        violations.push(...(await attackGlobs(daemon, folder)))
        const times = await others.stop()
        violations.push(...times.failures)
        if (times.slowestMs > MAX_WAIT_MS) violations.push(`another client waited ${Math.round(times.slowestMs)} ms at ${blocking.name}`)
        const figure = `slowest answer ${(slowestMs / 1000).toFixed(1)} s; ${formatSlowest(times)} (${blocking.name})`
        return { amount: `${requests.length} texts of ${length} characters, ${GLOBS.length} globs`, figure, violations }
      } finally {
        await daemon.kill()
      }
    }),
}

async function createRequests({ client }: RunningDaemon, length: number): Promise<SlowRequest[]> {
  const repeat = (text: string, limit = length) => text.repeat(Math.ceil(limit / text.length)).slice(0, limit)
  const texts: Record<string, string> = {
    'Japanese letters': repeat('日'),
    'English words and one Japanese letter': `${repeat('word ', length - 10)}日`,
    'Thai letters': repeat('ก'),
    'question marks': repeat('?'),
    spaces: `a${repeat(' ', length - 10)}b`,
    quotes: repeat('"a'),
    brackets: repeat('[('),
    braces: repeat('{{'),
    stars: repeat('*_'),
    backslashes: repeat('\\'),
    'one word': repeat('a'),
    'combining marks': `a${repeat('\u0301', length - 10)}`,
    'emoji families': repeat('👩‍👩‍👧‍👦'),
    newlines: repeat('\n#\n|'),
    operators: repeat('AND OR NOT NEAR( '),
  }
  const source = await client.create('/knowledge-sources', { name: 'notes', type: 'file' })
  await client.create(`/knowledge-sources/${source.id}/documents`, { name: 'a.md', content: '# Leave\n\nYou have 25 days of leave.\n' })
  await client.post(`/knowledge-sources/${source.id}/sync`, {})
  const rag = await client.create('/rag-tools', { name: 'notes', knowledge_source_id: source.id })
  const retrieval = await client.create('/retrieval-tools', { name: 'search', knowledge_source_ids: [source.id] })
  const agent = await client.create('/agents', { name: 'embedded', tools: [rag.id] })
  const template = await client.create('/prompt-templates', { name: 'echo', template: 'Say {{text}}' })
  const conversation = await client.create('/conversations', { agent_id: agent.id })
  await waitFor(async () => (await client.get(`/knowledge-sources/${source.id}`)).data.status !== 'syncing')
  const requests = Object.entries(texts).flatMap(([name, text]): SlowRequest[] => [
    { name: `message: ${name}`, path: `/conversations/${conversation.id}/messages`, body: { message: `x${text}` } },
    { name: `search: ${name}`, path: `/retrieval-tools/${retrieval.id}/search`, body: { query: `x${text}` } },
    { name: `question: ${name}`, path: `/rag-tools/${rag.id}/query`, body: { query: `x${text.slice(0, 10_000)}` } },
    { name: `template: ${name}`, path: '/prompt-templates', body: { name, template: text } },
    { name: `variable: ${name}`, path: `/prompt-templates/${template.id}/render`, body: { variables: { text } } },
    { name: `document: ${name}`, path: `/knowledge-sources/${source.id}/documents`, body: { name: 'slow.md', content: text } },
  ])
  const nested = `${'['.repeat(length)}${']'.repeat(length)}`
  return [
    ...requests,
    { name: 'nested JSON', path: '/agents', body: nested },
    { name: 'many fields', path: '/agents', body: createWideObject(length) },
  ]
}

const createWideObject = (fields: number) => Object.fromEntries(Array.from({ length: fields }, (_, at) => [`field${at}`, at]))

/** Syncs a folder whose only file name is the worst case of the globs. */
async function attackGlobs({ client }: RunningDaemon, folder: string): Promise<string[]> {
  const path = join(folder, 'files')
  mkdirSync(path)
  writeFileSync(join(path, `${'a'.repeat(60)}.md`), 'text')
  const problems: string[] = []
  for (const glob of GLOBS) {
    const { status, data, text } = await client.post('/knowledge-sources', {
      name: glob.slice(0, 40),
      type: 'folder',
      configuration: { path, include: [glob] },
    })
    if (status === 400) continue
    if (status !== 201) {
      problems.push(`the glob ${glob.slice(0, 40)} returned ${status}: ${text.slice(0, 200)}`)
      continue
    }
    await client.post(`/knowledge-sources/${data.id}/sync`, {})
    const isDone = async () => (await client.get(`/knowledge-sources/${data.id}`)).data.status !== 'syncing'
    await waitFor(isDone, { timeoutMs: REQUEST_TIMEOUT_MS }).catch(() => problems.push(`the glob ${glob.slice(0, 40)} did not end`))
  }
  return problems
}
