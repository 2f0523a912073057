import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findDocuments } from '../../../daemon/knowledge/sources/find-documents.ts'
import { streamGit } from '../../../daemon/knowledge/sources/git/run-git.ts'
import type { SourceOptions } from '../../../daemon/knowledge/sources/source-document.ts'
import { createOutbound } from '../../../daemon/outbound/client.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { startRecordingServer } from '../../outbound/recording-server.ts'
import { commit, createGitBackend, git } from './git-server.ts'
import { expectFailure } from './source-fixtures.ts'

const test = suite<{ project: string }>('document limit of git sources')

test.before.each((context) => {
  context.project = join(mkdtempSync(join(tmpdir(), 'cadre-git-limit-')), 'project')
  mkdirSync(context.project)
  git(context.project, 'init', '--quiet', '--initial-branch=main')
})
test.after.each(({ project }) => rmSync(dirname(project), { recursive: true, force: true, maxRetries: 5 }))

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

test('a repository with a path of any length is rejected', async ({ project }) => {
  commit(project, { 'a.md': 'one' })
  const blob = git(project, 'rev-parse', 'HEAD:a.md')
  for (const length of [10_000, 1_000_000]) {
    const tree = execFileSync('git', ['mktree'], {
      cwd: project,
      input: `100644 blob ${blob}\t${'a'.repeat(length)}.md\n`,
      encoding: 'utf8',
    })
    git(project, 'update-ref', 'refs/heads/main', git(project, 'commit-tree', tree.trim(), '-m', 'long'))
    const failure = await expectFailure(countDocuments({ repository: project }))
    assert.equal([failure.code, failure.message], ['PAYLOAD_TOO_LARGE', `${project} has a path of more than 4096 bytes.`])
  }
})

test('only documents that the source includes count', async ({ project }) => {
  commitFiles(project, 1_001)
  assert.is(await countDocuments({ repository: project, include: ['1*.md'] }, undefined, { maxDocuments: 1_000 }), 112)
})

/** Serves the project to a source of its own, and finds its documents. */
async function withServer(project: string, work: (find: Find) => Promise<void>): Promise<void> {
  const server = await startRecordingServer(createGitBackend(dirname(project)))
  server.listenerReadsBody = true
  const outbound = createOutbound({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const repository = `http://git.test:${server.port}/${basename(project)}`
  try {
    await work(async (settings = {}, limits = {}) => {
      const configuration = { repository, allow_private_network: true, ...settings }
      const signal = new AbortController().signal
      const options = { configuration, signal, workDirectory: join(dirname(project), 'work'), outbound, ...limits }
      const found: Record<string, string> = {}
      for await (const { name, problem, skipReason, read } of findDocuments('git', options))
        if (skipReason === undefined) found[name] = problem ?? Buffer.from(await read(signal)).toString('utf8')
      return found
    })
  } finally {
    await outbound.close()
    await server.close()
  }
}
/** Returns the text of each document, or why it cannot be read. */
type Find = (settings?: Record<string, unknown>, limits?: Partial<SourceOptions>) => Promise<Record<string, string>>

const getClone = (project: string) => join(dirname(project), 'work/repository.git')
const hasFile = (project: string, name: string) => git(getClone(project), 'ls-tree', '-l', 'refs/cadre/fetched', name).includes('400000')
const LARGE_TEXT = randomBytes(200_000).toString('hex')
const TOO_LARGE = 'The document has more than 1000 bytes, which is what this source accepts.'

test('a repository that is too large is rejected and not kept', async ({ project }) => {
  commit(project, { 'a.md': 'one', 'large.bin': LARGE_TEXT })
  await withServer(project, async (find) => {
    const failure = await expectFailure(find({}, { maxRepositoryBytes: 100_000 }))
    assert.is(failure.code, 'PAYLOAD_TOO_LARGE')
    assert.match(failure.message, 'has more than 0 MB in its latest commit.')
    assert.not.ok(existsSync(getClone(project)))
    assert.equal(await find({}, { maxRepositoryBytes: 10_000_000 }), { 'a.md': 'one' })
  })
})

test('earlier commits do not count as the size of a repository', async ({ project }) => {
  commit(project, { 'a.md': 'one', 'large.bin': LARGE_TEXT })
  await withServer(project, async (find) => {
    const limits = { maxRepositoryBytes: 700_000 }
    await find({}, limits)
    commit(project, { 'a.md': 'two', 'large.bin': randomBytes(200_000).toString('hex') })
    await find({}, limits)
    commit(project, { 'a.md': 'three', 'large.bin': randomBytes(200_000).toString('hex') })
    assert.equal(await find({}, limits), { 'a.md': 'three' })
  })
})

test('files larger than max_file_size are not fetched, until it is raised', async ({ project }) => {
  git(project, 'config', 'uploadpack.allowFilter', 'true')
  commit(project, { 'a.md': 'one', 'large.md': LARGE_TEXT, 'large.bin': LARGE_TEXT })
  await withServer(project, async (find) => {
    assert.equal(await find({ max_file_size: 1_000 }), { 'a.md': 'one', 'large.md': TOO_LARGE })
    assert.not.ok(hasFile(project, 'large.md') || hasFile(project, 'large.bin'))
    commit(project, { 'a.md': 'two' })
    assert.equal(await find({ max_file_size: 1_000 }), { 'a.md': 'two', 'large.md': TOO_LARGE })
    assert.equal(await find({ max_file_size: 400_000 }), { 'a.md': 'two', 'large.md': LARGE_TEXT })
    assert.ok(hasFile(project, 'large.md'))
  })
})

for (const [server, settings] of [
  ['ignores', []],
  [
    'refuses',
    [
      ['uploadpack.allowFilter', 'true'],
      ['uploadpackfilter.allow', 'false'],
    ],
  ],
] as const)
  test(`a server that ${server} to leave out large files sends them, and they are not read`, async ({ project }) => {
    for (const [name, value] of settings) git(project, 'config', name, value)
    commit(project, { 'a.md': 'one', 'large.md': LARGE_TEXT })
    const problem = 'The document has 400000 bytes; this source accepts at most 1000.'
    await withServer(project, async (find) => {
      assert.equal(await find({ max_file_size: 1_000 }), { 'a.md': 'one', 'large.md': problem })
      assert.equal(await find({ max_file_size: 1_000 }), { 'a.md': 'one', 'large.md': problem })
    })
  })

test('a stopped command ends with its helpers, which would go on receiving files', async ({ project }) => {
  const bin = join(dirname(project), 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), '#!/bin/sh\nsleep 3600 &\necho started\nwait\n', { mode: 0o700 })
  const before = process.env.PATH
  process.env.PATH = `${bin}:${before}`
  const stop = new AbortController()
  try {
    const failure = await expectFailure(
      (async () => {
        for await (const part of streamGit({ directory: project, args: ['fetch'], signal: stop.signal, timeoutMs: 60_000 })) {
          assert.is(part.toString(), 'started\n')
          stop.abort(new CadreError('CONFLICT', 'stopped'))
        }
      })(),
    )
    assert.is(failure.message, 'stopped')
  } finally {
    process.env.PATH = before
  }
})

test.run()
