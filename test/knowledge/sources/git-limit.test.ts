import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findDocuments } from '../../../daemon/knowledge/sources/find-documents.ts'
import { commit, git } from './git-server.ts'
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

async function countDocuments(configuration: Record<string, unknown>, onDocument = () => {}): Promise<number> {
  let count = 0
  const signal = new AbortController().signal
  for await (const _ of findDocuments('git', { configuration, signal, workDirectory: '', outbound: undefined as never })) {
    count++
    onDocument()
  }
  return count
}

test('a repository with more than 100,000 documents is rejected before any is read', async ({ project }) => {
  commitFiles(project, 100_001)
  let found = 0
  const failure = await expectFailure(countDocuments({ repository: project }, () => found++))
  assert.equal([found, failure.code, failure.message], [0, 'PAYLOAD_TOO_LARGE', `${project} has more than 100000 documents.`])
  assert.match(failure.hint ?? '', 'exclude')
})

test('only documents that the source includes count', async ({ project }) => {
  commitFiles(project, 100_001)
  assert.is(await countDocuments({ repository: project, include: ['1*.md'] }), 11_112)
})

test.run()
