import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findDocuments } from '../../../daemon/knowledge/sources/find-documents.ts'
import type { SourceDocument } from '../../../daemon/knowledge/sources/source-document.ts'
import { createOutbound, type Outbound } from '../../../daemon/outbound/client.ts'
import { type RecordingServer, startRecordingServer } from '../../outbound/recording-server.ts'
import { commit, createGitBackend, git } from './git-server.ts'
import { expectFailure, listNames as names } from './source-fixtures.ts'

interface Context {
  root: string
  project: string
  server: RecordingServer
  outbound: Outbound
}
const test = suite<Context>('git sources')

const signal = new AbortController().signal

test.before.each(async (context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-git-'))
  context.project = join(context.root, 'projects/docs')
  mkdirSync(context.project, { recursive: true })
  git(context.project, 'init', '--quiet', '--initial-branch=main')
  context.server = await startRecordingServer(createGitBackend(join(context.root, 'projects')))
  context.server.listenerReadsBody = true
  context.outbound = createOutbound({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
})
test.after.each(async ({ root, server, outbound }) => {
  await outbound.close()
  await server.close()
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
})

async function listDocuments({ root, outbound }: Context, configuration: Record<string, unknown>): Promise<SourceDocument[]> {
  const found: SourceDocument[] = []
  for await (const document of findDocuments('git', { configuration, signal, workDirectory: join(root, 'work'), outbound }))
    found.push(document)
  return found
}
const text = async (found: SourceDocument[], name: string) =>
  Buffer.from((await found.find((one) => one.name === name)?.read(signal)) ?? []).toString('utf8')
const remote = ({ server }: Context, name = 'docs') => ({
  repository: `http://git.test:${server.port}/${name}`,
  allow_private_network: true,
})

test('a local repository is read as committed, without the working tree', async (context) => {
  const { project } = context
  const id = commit(project, { 'a.md': 'one', 'sub dir/ü 文.md': 'two', 'image.png': '', '.hidden.md': '', 'node_modules/x.md': '' })
  symlinkSync('/etc/passwd', join(project, 'link.md'))
  commit(project, {})
  writeFileSync(join(project, 'a.md'), 'changed, not committed')
  writeFileSync(join(project, 'new.md'), 'not committed')
  const found = await listDocuments(context, { repository: project })
  assert.equal(names(found), ['a.md', 'sub dir/ü 文.md'])
  assert.is(await text(found, 'a.md'), 'one')
  assert.is(await text(found, 'sub dir/ü 文.md'), 'two')
  assert.is.not(found[0]?.metadata?.commit, id)
  assert.is(found[0]?.fingerprint, git(project, 'rev-parse', 'HEAD:a.md'))
  assert.not.ok(existsSync(join(context.root, 'work')), 'nothing is copied')
})

test('a folder within a local repository and a bare repository are read', async (context) => {
  commit(context.project, { 'a.md': '', 'docs/b.md': 'b' })
  const found = await listDocuments(context, { repository: join(context.project, 'docs') })
  assert.equal(names(found), ['b.md'])
  assert.is(await text(found, 'b.md'), 'b')
  const bare = join(context.root, 'bare.git')
  git(context.root, 'clone', '--quiet', '--bare', context.project, bare)
  assert.equal(names(await listDocuments(context, { repository: bare })), ['a.md', 'docs/b.md'])
})

test('branches and tags are read by name, and an unknown one is an error', async (context) => {
  const { project } = context
  commit(project, { 'a.md': 'main' })
  git(project, 'tag', 'v1.0')
  git(project, 'checkout', '--quiet', '-b', 'feature/x')
  commit(project, { 'b.md': 'feature' })
  git(project, 'checkout', '--quiet', 'main')
  for (const configuration of [{ repository: project }, remote(context)]) {
    assert.equal(names(await listDocuments(context, configuration)), ['a.md'])
    assert.equal(names(await listDocuments(context, { ...configuration, branch: 'feature/x' })), ['a.md', 'b.md'])
    assert.equal(names(await listDocuments(context, { ...configuration, branch: 'v1.0' })), ['a.md'])
    const error = await expectFailure(listDocuments(context, { ...configuration, branch: 'nope' }))
    assert.equal([error.code, /no branch or tag "nope"/.test(error.message)], ['NOT_FOUND', true], error.message)
    assert.is((await expectFailure(listDocuments(context, { ...configuration, branch: '--upload-pack=x' }))).code, 'VALIDATION_ERROR')
  }
})

test('globs, file types and size limits apply to git sources', async (context) => {
  commit(context.project, { 'a.md': 'x'.repeat(100), 'docs/b.txt': 'b', 'docs/c.md': 'c', '.github/d.yml': 'd' })
  assert.equal(
    names(await listDocuments(context, { repository: context.project, include: ['docs/**', '.github/**'], exclude: ['*.txt'] })),
    ['.github/d.yml', 'docs/c.md'],
  )
  assert.equal(names(await listDocuments(context, { repository: context.project, file_types: ['txt'] })), ['docs/b.txt'])
  const found = await listDocuments(context, { repository: context.project, max_file_size: 50, include: ['*.md'] })
  assert.match(found.find(({ name }) => name === 'a.md')?.problem ?? '', /100 bytes.*at most 50/)
})

test('a remote repository is fetched without history or working tree, and updated', async (context) => {
  const { project, root } = context
  commit(project, { 'a.md': 'old', 'b.md': 'same' })
  commit(project, { 'a.md': 'one' })
  const first = await listDocuments(context, remote(context))
  assert.equal(names(first), ['a.md', 'b.md'])
  assert.is(await text(first, 'a.md'), 'one')
  assert.equal(readdirSync(join(root, 'work')), ['repository.git'])
  assert.is(git(join(root, 'work/repository.git'), 'rev-list', '--count', 'refs/cadre/fetched'), '1')
  rmSync(join(project, 'b.md'))
  commit(project, { 'a.md': 'two', 'c.md': 'three' })
  const second = await listDocuments(context, remote(context))
  assert.equal(names(second), ['a.md', 'c.md'])
  assert.is(await text(second, 'a.md'), 'two')
  git(project, 'reset', '--quiet', '--hard', 'HEAD~2')
  const rewritten = await listDocuments(context, remote(context))
  assert.is(await text(rewritten, 'a.md'), 'old')
  assert.is(rewritten.find(({ name }) => name === 'b.md')?.fingerprint, first.find(({ name }) => name === 'b.md')?.fingerprint)
})

test('files of an interrupted fetch do not break the next one', async (context) => {
  commit(context.project, { 'a.md': 'one' })
  await listDocuments(context, remote(context))
  commit(context.project, { 'a.md': 'two' })
  writeFileSync(join(context.root, 'work/repository.git/shallow.lock'), '')
  assert.is(await text(await listDocuments(context, remote(context)), 'a.md'), 'two')
})

test('a redirect of a repository is followed', async (context) => {
  commit(context.project, { 'a.md': 'one' })
  const answer = context.server.listener
  context.server.listener = (request, reply) => {
    if (request.url?.startsWith('/old/')) reply.writeHead(301, { location: request.url.replace('/old/', '/') }).end()
    else answer(request, reply)
  }
  assert.equal(names(await listDocuments(context, remote(context, 'old/docs'))), ['a.md'])
})

test('a repository in the private network is not contacted by any scheme, name or redirect', async (context) => {
  commit(context.project, { 'a.md': 'one' })
  const { port } = context.server
  const hosts = [
    `http://127.0.0.1:${port}`,
    `http://localhost:${port}`,
    `http://git.test:${port}`,
    `http://2130706433:${port}`,
    `http://[::ffff:127.0.0.1]:${port}`,
    `https://git.test:${port}`,
  ]
  for (const host of [...hosts, `git://git.test:${port}`, `ssh://git@git.test:${port}`])
    assert.is((await expectFailure(listDocuments(context, { repository: `${host}/docs` }))).code, 'ADDRESS_BLOCKED', host)
  assert.is((await expectFailure(listDocuments(context, { repository: 'git@git.test:docs' }))).code, 'ADDRESS_BLOCKED')
  assert.is(context.server.connections, 0)
  const other = await startRecordingServer()
  context.server.listener = (request, reply) => reply.writeHead(302, { location: `http://0.0.0.0:${other.port}${request.url}` }).end()
  assert.is((await expectFailure(listDocuments(context, remote(context)))).code, 'ADDRESS_BLOCKED')
  assert.is(other.connections, 0)
  await other.close()
})

test('helper programs, options and other schemes are rejected as repositories', async (context) => {
  const marker = join(context.root, 'ran')
  for (const repository of [
    `ext::sh -c touch% ${marker}`,
    `--upload-pack=touch ${marker}`,
    'file:///etc',
    'ftp://example.com/x',
    `git@-oProxyCommand=touch:${marker}`,
    `ssh://-oProxyCommand=touch%20${marker}/x`,
    'docs',
  ])
    assert.ok(
      ['VALIDATION_ERROR', 'ADDRESS_BLOCKED'].includes(
        (await expectFailure(listDocuments(context, { repository, allow_private_network: true }))).code,
      ),
      repository,
    )
  assert.not.ok(existsSync(marker))
})

test('settings and hooks of a repository run nothing', async (context) => {
  const { project, root } = context
  commit(project, { 'a.md': 'one', '.gitattributes': '*.md filter=evil diff=evil' })
  const marker = join(root, 'ran')
  const settings = 'core.fsmonitor core.sshCommand core.pager filter.evil.smudge diff.evil.textconv credential.helper alias.ls-tree'
  for (const setting of settings.split(' '))
    git(project, 'config', setting, setting.startsWith('alias') || setting.startsWith('cred') ? `!touch ${marker}` : `touch ${marker}`)
  mkdirSync(join(project, '.git/hooks'), { recursive: true })
  for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change'])
    writeFileSync(join(project, '.git/hooks', hook), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 })
  const found = await listDocuments(context, { repository: project })
  assert.is(await text(found, 'a.md'), 'one')
  assert.not.ok(existsSync(marker))
})

test('a repository that cannot be read reports the reason', async (context) => {
  const { root, project, server } = context
  const missing = await expectFailure(listDocuments(context, { repository: join(root, 'gone') }))
  assert.equal([missing.code, /does not exist/.test(missing.message)], ['NOT_FOUND', true])
  mkdirSync(join(root, 'plain'))
  assert.match((await expectFailure(listDocuments(context, { repository: join(root, 'plain') }))).message, 'is not a git repository')
  assert.match((await expectFailure(listDocuments(context, { repository: project }))).message, 'has no commits yet')
  assert.match((await expectFailure(listDocuments(context, remote(context)))).message, 'has no commits yet')
  assert.match((await expectFailure(listDocuments(context, remote(context, 'other')))).message, 'No repository found at')
  const dead = await expectFailure(listDocuments(context, { repository: 'http://git.test:9/docs', allow_private_network: true }))
  assert.equal([dead.code, /could not be read/.test(dead.message)], ['UNAVAILABLE', true], dead.message)
  server.listener = (request, reply) => request.resume() && reply.writeHead(401, { 'www-authenticate': 'Basic' }).end()
  const login = await expectFailure(
    listDocuments(context, { repository: `http://user:secret@git.test:${server.port}/docs`, allow_private_network: true }),
  )
  assert.is(login.code, 'FORBIDDEN')
  assert.not.match(`${login.message} ${(login.cause as Error).message}`, 'secret')
})

test('a missing git installation is reported with a hint', async (context) => {
  const path = process.env.PATH
  process.env.PATH = join(context.root, 'empty')
  try {
    const error = await expectFailure(listDocuments(context, { repository: context.project }))
    assert.match(error.message, 'git is not installed')
    assert.ok(error.hint)
  } finally {
    process.env.PATH = path
  }
})

test('git gets neither secrets nor GIT_ variables from the environment', async (context) => {
  commit(context.project, { 'a.md': 'one' })
  const [bin, dump] = [join(context.root, 'bin'), join(context.root, 'dump')]
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), `#!/bin/sh\nenv >> ${dump}\nPATH="${process.env.PATH}" exec git "$@"\n`, { mode: 0o755 })
  const before = { ...process.env }
  Object.assign(process.env, {
    PATH: `${bin}:${process.env.PATH}`,
    CADRE_TOKEN: 'hush',
    OPENAI_API_KEY: 'hush',
    GIT_DIR: '/nowhere',
    GIT_TRACE: '1',
  })
  try {
    assert.equal(names(await listDocuments(context, { repository: context.project })), ['a.md'])
  } finally {
    for (const name of ['CADRE_TOKEN', 'OPENAI_API_KEY', 'GIT_DIR', 'GIT_TRACE']) delete process.env[name]
    Object.assign(process.env, before)
  }
  const heard = readFileSync(dump, 'utf8')
  assert.match(heard, 'GIT_TERMINAL_PROMPT=0')
  assert.not.match(heard, /hush|GIT_DIR|GIT_TRACE/)
})

test('a file in Git LFS is reported as unsupported', async (context) => {
  commit(context.project, { 'a.md': `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12\n` })
  assert.match((await expectFailure(text(await listDocuments(context, { repository: context.project }), 'a.md'))).message, 'Git LFS')
})

test('files of a repository can be read concurrently', async (context) => {
  commit(context.project, Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`f${at}.md`, `${at}\n`.repeat(at)])))
  const found = await listDocuments(context, { repository: context.project })
  const read = await Promise.all(found.map(async ({ name, read }) => [name, Buffer.from(await read(signal)).toString('utf8')] as const))
  assert.is(read.length, 300)
  for (const [name, content] of read) {
    const at = Number(name.slice(1, -3))
    assert.is(content, `${at}\n`.repeat(at), name)
  }
})

test('fetching and reading a repository stop on abort', async (context) => {
  commit(context.project, { 'a.md': 'x'.repeat(1_000) })
  const ending = new AbortController()
  const [document] = await listDocuments(context, { repository: context.project })
  context.server.listener = (request) => {
    request.resume()
    ending.abort(new Error('enough'))
  }
  const options = {
    configuration: { ...remote(context) },
    signal: ending.signal,
    workDirectory: join(context.root, 'work'),
    outbound: context.outbound,
  }
  const running = (async () => {
    for await (const { name } of findDocuments('git', options)) assert.unreachable(name)
  })()
  for (const work of [() => running, () => document?.read(ending.signal)]) {
    try {
      await work()
      assert.unreachable()
    } catch (error) {
      assert.is((error as Error).message, 'enough')
    }
  }
})

test.run()
