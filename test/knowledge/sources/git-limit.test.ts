import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findDocuments } from '../../../daemon/knowledge/sources/find-documents.ts'
import { createOutbound } from '../../../daemon/outbound/client.ts'
import { startRecordingServer } from '../../outbound/recording-server.ts'
import { commit, createGitBackend, git } from './git-server.ts'
import { expectFailure } from './source-fixtures.ts'

const test = suite<{ project: string }>('document limit of git sources')

test.before.each((context) => {
  context.project = mkdtempSync(join(tmpdir(), 'cadre-git-limit-'))
  git(context.project, 'init', '--quiet', '--initial-branch=main')
})
test.after.each(({ project }) => rmSync(project, { recursive: true, force: true, maxRetries: 5 }))

/** Commits a tree in which all files have the same content. */
function commitFiles(project: string, count: number): void {
  commit(project, { 'a.md': 'one' })
  const blob = git(project, 'rev-parse', 'HEAD:a.md')
  const entries = Array.from({ length: count }, (_, index) => `100644 blob ${blob}\t${index}.md\n`).join('')
  const tree = execFileSync('git', ['mktree'], { cwd: project, input: entries, encoding: 'utf8' }).trim()
  git(project, 'update-ref', 'refs/heads/main', git(project, 'commit-tree', tree, '-m', 'large'))
}

async function countDocuments(configuration: Record<string, unknown>, onDocument = () => {}, limits = {}): Promise<number> {
  let count = 0
  const signal = new AbortController().signal
  const options = { configuration, signal, workDirectory: '', outbound: undefined as never, ...limits }
  for await (const { skipReason } of findDocuments('git', options)) {
    if (skipReason !== undefined) continue
    count++
    onDocument()
  }
  return count
}

test('a repository with too many documents is rejected before any is read', async ({ project }) => {
  commitFiles(project, 1_001)
  let found = 0
  const failure = await expectFailure(countDocuments({ repository: project }, () => found++, { maxDocuments: 1_000 }))
  assert.equal([found, failure.code, failure.message], [0, 'PAYLOAD_TOO_LARGE', `${project} has more than 1000 documents.`])
  assert.match(failure.hint ?? '', 'exclude')
})

test('a repository that lists billions of files of no document type is rejected', async ({ project }) => {
  commit(project, { 'a.md': 'one' })
  let [kind, id] = ['100644 blob', git(project, 'rev-parse', 'HEAD:a.md')]
  for (let level = 0; level < 10; level++) {
    const entries = Array.from({ length: 10 }, (_, index) => `${kind} ${id}\t${index}${level === 0 ? '.xyz' : ''}\n`).join('')
    kind = '040000 tree'
    id = execFileSync('git', ['mktree'], { cwd: project, input: entries, encoding: 'utf8' }).trim()
  }
  git(project, 'update-ref', 'refs/heads/main', git(project, 'commit-tree', id, '-m', 'bomb'))
  const failure = await expectFailure(countDocuments({ repository: project }, undefined, { maxPaths: 10_000 }))
  assert.equal([failure.code, failure.message], ['PAYLOAD_TOO_LARGE', `${project} has more than 10000 files.`])
})

test('only documents that the source includes count', async ({ project }) => {
  commitFiles(project, 1_001)
  assert.is(await countDocuments({ repository: project, include: ['1*.md'] }, undefined, { maxDocuments: 1_000 }), 112)
})

test('a repository that is too large is rejected and not kept', async ({ project }) => {
  commit(project, { 'a.md': 'one', 'large.bin': randomBytes(200_000).toString('hex') })
  const server = await startRecordingServer(createGitBackend(join(project, '..')))
  server.listenerReadsBody = true
  const outbound = createOutbound({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const workDirectory = join(project, 'work')
  const configuration = { repository: `http://git.test:${server.port}/${basename(project)}`, allow_private_network: true }
  const sync = (maxRepositoryBytes: number) => countDocuments(configuration, undefined, { outbound, workDirectory, maxRepositoryBytes })
  try {
    const failure = await expectFailure(sync(100_000))
    assert.is(failure.code, 'PAYLOAD_TOO_LARGE')
    assert.match(failure.message, 'has more than 0 MB in its latest commit.')
    assert.not.ok(existsSync(join(workDirectory, 'repository.git')))
    assert.is(await sync(10_000_000), 1)
  } finally {
    await outbound.close()
    await server.close()
  }
})

test.run()
