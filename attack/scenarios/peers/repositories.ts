/** Repositories that are larger than they look: their sync stores little, or ends with an error that says what is too large. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import type { RequestListener, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Json } from '../../../test/harness/test-server.ts'
import { waitFor } from '../../../test/harness/wait-for.ts'
import { commit, createGitBackend, git } from '../../../test/knowledge/sources/git-server.ts'
import { startRecordingServer } from '../../../test/outbound/recording-server.ts'
import { formatMegabytes, type RunningDaemon, withDaemon, withFolder } from '../../support/daemon.ts'
import { type Scenario, type ScenarioOptions, scaleAmount } from '../../support/scenario.ts'
import { watchMemory } from '../../support/watch-memory.ts'
import { formatSlowest, watchResponses } from '../../support/watch-responses.ts'

const MAX_MEMORY = 700 * 1024 ** 2
const MAX_FILE_SIZE = 1024 ** 2
/** What a clone may take, beside its documents. */
const MAX_STORED = 8 * 1024 ** 2
const FILE_MEGABYTES = 50
const LARGE_FILES = 10
const BLOCKS_PER_WRITE = 16

interface Attack {
  name: string
  /** Path of the repository on the server. */
  path: string
  /** What the error of the source must say. Undefined if its documents are indexed. */
  error?: RegExp
}

const ATTACKS: readonly Attack[] = [
  { name: 'large files', path: 'large' },
  { name: 'ten billion paths', path: 'paths', error: /has more than 1000000 files/ },
  { name: 'a pack without an end', path: 'endless', error: /has more than 1024 MB in its latest commit/ },
]

export const repositories: Scenario = {
  name: 'repositories',
  promise: 'A repository takes 1 GB of disk at most, without files that are too large to be documents, and lists a million files at most.',
  run: (options) =>
    withFolder(async (folder) => {
      const megabytes = createRepositories(folder, options)
      const backend = createGitBackend(folder)
      const server = await startRecordingServer((request, response) =>
        (request.url?.startsWith('/endless') ? sendEndlessPack : backend)(request, response),
      )
      server.listenerReadsBody = true
      try {
        return await withDaemon(async (daemon) => {
          const violations: string[] = []
          const [memory, watch] = [watchMemory(daemon.child.pid), watchResponses(daemon.url)]
          let stored = 0
          for (const attack of ATTACKS) {
            const problem = await syncRepository(daemon, attack, server.origin)
            if (problem !== undefined) violations.push(`${attack.name}: ${problem}`)
            const size = measureFolder(join(daemon.home, 'work'))
            if (size > MAX_STORED) violations.push(`${attack.name}: ${formatMegabytes(size)} remain on the disk`)
            stored = Math.max(stored, size)
          }
          const times = await watch.stop()
          const { bytes } = memory.stop()
          if (bytes > MAX_MEMORY) violations.push(`the processes used ${formatMegabytes(bytes)}`)
          return {
            amount: `a repository with ${megabytes} MB of large files, one with ten billion paths, one without an end`,
            figure: `at most ${formatMegabytes(stored)} kept; peak memory ${formatMegabytes(bytes)}; ${formatSlowest(times)}`,
            violations: [...violations, ...times.failures],
          }
        })
      } finally {
        await server.close()
      }
    }),
}

/** Returns how many megabytes of files are too large to be documents. */
function createRepositories(folder: string, options: ScenarioOptions): number {
  const large = join(folder, 'large')
  const create = (project: string) => {
    mkdirSync(project)
    git(project, 'init', '--quiet', '--initial-branch=main')
    return commit(project, { 'a.md': 'The heron nests by the pond.' })
  }
  create(large)
  git(large, 'config', 'uploadpack.allowFilter', 'true')
  git(large, 'config', 'core.compression', '0')
  const files = scaleAmount(LARGE_FILES, options)
  for (let file = 0; file < files; file++) commit(large, { [`${file}.md`]: randomBytes((FILE_MEGABYTES / 2) * 1024 ** 2).toString('hex') })

  const paths = join(folder, 'paths')
  create(paths)
  let [kind, id] = ['100644 blob', git(paths, 'rev-parse', 'HEAD:a.md')]
  for (let level = 0; level < 10; level++) {
    const entries = Array.from({ length: 10 }, (_, index) => `${kind} ${id}\t${index}${level === 0 ? '.xyz' : ''}\n`).join('')
    kind = '040000 tree'
    id = execFileSync('git', ['mktree'], { cwd: paths, input: entries, encoding: 'utf8' }).trim()
  }
  git(paths, 'update-ref', 'refs/heads/main', git(paths, 'commit-tree', id, '-m', 'many'))
  return files * FILE_MEGABYTES
}

/** Returns what is wrong. */
async function syncRepository({ client }: RunningDaemon, { name, path, error }: Attack, origin: string): Promise<string | undefined> {
  const configuration = { repository: `${origin}/${path}`, allow_private_network: true, max_file_size: MAX_FILE_SIZE }
  const { id } = await client.create('/knowledge-sources', { name, type: 'git', configuration })
  await client.create('/rag-tools', { name: `rag ${path}`, knowledge_source_id: id })
  await client.post(`/knowledge-sources/${id}/sync`, {})
  const source = await waitFor(
    async () => {
      const { data } = await client.get(`/knowledge-sources/${id}`)
      return (data as Json).progress === null && ['active', 'error'].includes((data as Json).status) ? (data as Json) : undefined
    },
    { description: `the sync of ${name}`, timeoutMs: 300_000 },
  )
  if (error) return error.test(source.error ?? '') ? undefined : `the source is ${source.status}: ${source.error}`
  const { data: documents } = await client.get(`/knowledge-sources/${id}/documents?limit=100`)
  const wrong = (documents as Json[]).filter((document) =>
    document.name === 'a.md' ? document.status !== 'indexed' : !/more than 1048576 bytes/.test(document.error ?? ''),
  )
  return wrong.length === 0 ? undefined : wrong.map((document) => `${document.name} is ${document.status}: ${document.error}`).join(', ')
}

const formatLine = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text

/** Answers every fetch with one file of a terabyte, in the first version of git's protocol. */
const sendEndlessPack: RequestListener = (request, response) => {
  const commitId = '1'.repeat(40)
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
    const refs = [`${commitId} HEAD\0shallow ofs-delta no-progress filter symref=HEAD:refs/heads/main\n`, `${commitId} refs/heads/main\n`]
    response.end(`${formatLine('# service=git-upload-pack\n')}0000${refs.map(formatLine).join('')}0000`)
    return
  }
  let body = ''
  request.setEncoding('utf8').on('data', (part: string) => {
    body += part
  })
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' })
    response.write(`${formatLine(`shallow ${commitId}`)}0000`)
    // The first request only asks where the history ends.
    if (body.includes('0009done')) void sendPack(response)
    else response.end()
  })
}

async function sendPack(response: ServerResponse): Promise<void> {
  const closed = once(response, 'close')
  response.write(formatLine('NAK\n'))
  // The second version of a pack with one object: a blob of 2^40 bytes, compressed with deflate.
  const header = Buffer.from([0, 0, 0, 2, 0, 0, 0, 1, 0xb0, 0x80, 0x80, 0x80, 0x80, 0x40, 0x78, 0x01])
  response.write(Buffer.concat([Buffer.from('PACK'), header]))
  const block = Buffer.concat([Buffer.from([0, 0xff, 0xff, 0, 0]), randomBytes(0xffff)])
  const blocks = Buffer.concat(Array<Buffer>(BLOCKS_PER_WRITE).fill(block))
  while (!response.destroyed) if (!response.write(blocks)) await Promise.race([once(response, 'drain'), closed])
}

function measureFolder(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
