import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { type RecordingServer, startRecordingServer } from '../../outbound/recording-server.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'
import { createGitBackend, createGuardedBackend, createProject } from './git-server.ts'

const USER = 'canary-user-7Hq2'
const PASSWORD = 'canary/pass:word@9Zx4 ü'
const TOKEN = 'canary-token-3Kw8'
const BASIC = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`
const ACCEPTED = [BASIC, `Bearer ${TOKEN}`, `Basic ${Buffer.from(`${TOKEN}:`).toString('base64')}`]
const basic = { type: 'basic', username: USER, password: PASSWORD }

const test = suite('git sources with credentials')
let root: string
let library: KnowledgeFixture
let server: RecordingServer
let repository: string
let guarded: RequestListener

test.before(
  reportFailure(async () => {
    root = mkdtempSync(join(tmpdir(), 'cadre-login-'))
    createProject(join(root, 'projects'), 'docs', 'The heron nests by the pond.')
    guarded = createGuardedBackend(join(root, 'projects'), ACCEPTED)
    server = await startRecordingServer(guarded)
    server.listenerReadsBody = true
    repository = `http://127.0.0.1:${server.port}/docs`
    library = await KnowledgeFixture.start()
  }),
)
test.after(
  reportFailure(async () => {
    await library.close()
    await server.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }),
)

const body = (more: Json = {}, name = 'Docs') => ({
  name,
  type: 'git',
  configuration: { repository, allow_private_network: true },
  ...more,
})
const made = async (more: Json = {}, name?: string): Promise<Json> =>
  expectData(library.service.post('/knowledge-sources', body(more, name)), 201)
const change = (id: string, fields: Json, as = 'admin') => library.service.put(`/knowledge-sources/${id}`, fields, { as })

const spellings = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64').slice(0, -4),
]
const SPELLINGS = [USER, PASSWORD, TOKEN, 'ss:word@9Zx4', `${USER}:${PASSWORD}`, `${TOKEN}:`].flatMap(spellings)
const findSecrets = (text: string | Buffer): string[] => SPELLINGS.filter((spelling) => text.includes(spelling))

/** Returns the files of the home that contain a secret. */
function findLeaks(): string[] {
  const { home } = library.service.paths
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).map((name) => join(home, name))
  return files.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() && findSecrets(readFileSync(file)).length > 0)
}

const LOGINS: Record<string, Json> = {
  'a user name and a password': basic,
  'a token': { type: 'bearer', token: TOKEN },
  'a token for a user name': { type: 'basic', username: TOKEN, password: '' },
}
for (const [name, auth] of Object.entries(LOGINS)) {
  test(`${name}: the repository is read, and the credentials are never shown`, async () => {
    const source = await made({ auth })
    assert.equal(source.auth, { type: auth.type })
    const synced = await library.sync(source.id)
    assert.equal([synced.status, synced.error, synced.statistics.documents], ['active', null, 1])
    const answers = [
      source,
      synced,
      await expectData(library.service.get('/export')),
      (await library.service.get('/knowledge-sources')).body,
    ]
    assert.equal(findSecrets(JSON.stringify(answers)), [])
    assert.equal(findLeaks(), [])
    await library.service.delete(`/knowledge-sources/${source.id}`)
  })
}

test('credentials are not in the process list or in files of git', async () => {
  const [bin, dump] = [join(root, 'bin'), join(root, 'dump')]
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$@" >> ${dump}\nPATH="${process.env.PATH}" exec git "$@"\n`)
  chmodSync(join(bin, 'git'), 0o755)
  const before = process.env.PATH
  process.env.PATH = `${bin}:${before}`
  const source = await made({ auth: basic })
  try {
    assert.is((await library.sync(source.id)).status, 'active')
  } finally {
    process.env.PATH = before
  }
  assert.match(readFileSync(dump, 'utf8'), `remote.cadre.url=${repository} `)
  assert.equal(findSecrets(readFileSync(dump)), [])
  assert.ok(existsSync(join(library.service.paths.work, source.id, 'repository.git/config')))
  await library.service.delete(`/knowledge-sources/${source.id}`)
})

test('errors do not contain rejected credentials, even if the server repeats them', async () => {
  const source = await made()
  const without = await library.sync(source.id)
  assert.match(without.error, /requires credentials, or does not exist/)
  await expectData(change(source.id, { auth: { ...basic, password: 'canary-wrong-5Tt1' } }))
  const wrong = await library.sync(source.id)
  assert.match(wrong.error, /rejected the credentials/)
  const repeated = Buffer.from(`${USER}:canary-wrong-5Tt1`).toString('base64')
  assert.not.match(`${JSON.stringify(wrong)} ${library.service.log}`, new RegExp(`canary-wrong|${repeated}`))
  await expectData(change(source.id, { auth: basic }))
  server.listener = (request, reply) =>
    request.resume() && reply.writeHead(500, { 'content-type': 'text/plain' }).end(`broken by ${request.headers.authorization}\n`)
  const broken = await library.sync(source.id)
  server.listener = guarded
  assert.match(broken.error, 'broken by Basic [redacted]')
  assert.equal(findSecrets(JSON.stringify(broken)), [])
  assert.is((await library.sync(source.id)).status, 'active')
  await expectData(change(source.id, { auth: { type: 'none' } }))
  assert.match((await library.sync(source.id)).error, /requires credentials/)
  await library.service.delete(`/knowledge-sources/${source.id}`)
})

test('credentials follow a redirect on the same server, but not to another one', async () => {
  const other = await startRecordingServer(createGitBackend(join(root, 'projects')))
  other.listenerReadsBody = true
  const moved =
    (to: string): RequestListener =>
    (request, reply) =>
      request.url?.startsWith('/old')
        ? request.resume() && reply.writeHead(301, { location: to + request.url.slice(4) }).end()
        : guarded(request, reply)
  const source = await made({
    auth: basic,
    configuration: { repository: repository.replace('/docs', '/old'), allow_private_network: true },
  })
  try {
    server.listener = moved(repository)
    assert.is((await library.sync(source.id)).status, 'active')
    server.listener = moved(`http://localhost:${other.port}/docs`)
    assert.match((await library.sync(source.id)).error, 'redirects to another URL')
    assert.ok(other.requests.length > 0, 'it was requested without credentials')
    assert.equal(other.requests.map(({ headers }) => headers.authorization).filter(Boolean), [])
  } finally {
    server.listener = guarded
    await other.close()
  }
  await library.service.delete(`/knowledge-sources/${source.id}`)
})

test('credentials in the repository URL are rejected with a hint', async () => {
  const { host } = new URL(repository)
  const source = await made({ auth: basic })
  const logins = [`${TOKEN}@`, `${USER}:${TOKEN}@`, `:${TOKEN}@`, `${USER}:a%40${TOKEN}@`, `x@${TOKEN}@`, `${USER}:${TOKEN}:x@`]
  const addresses = [
    ...logins.flatMap((login) => [`https://${login}${host}/docs.git`, `HTTP://${login}${host}/docs`, `git://${login}${host}/docs`]),
    `https:///${TOKEN}@${host}/docs`,
    `ssh://git:${TOKEN}@${host}/docs`,
    `ssh:///${TOKEN}@${host}/docs`,
    `git:${TOKEN}@${host.split(':')[0]}:docs`,
    `https:\\\\${TOKEN}@${host}/docs`,
    `https:${TOKEN}@${host}/docs`,
    `ftp://${USER}:${TOKEN}@${host}/docs`,
  ]
  for (const address of addresses) {
    const configuration = { repository: address, allow_private_network: true }
    for (const attempt of [library.service.post('/knowledge-sources', body({ configuration })), change(source.id, { configuration })]) {
      const answer = await expectError(attempt, 'VALIDATION_ERROR', { field: 'configuration.repository' })
      assert.equal(findSecrets(JSON.stringify(answer)), [], address)
    }
  }
  await expectError(
    library.service.post('/knowledge-sources', body({ configuration: { repository: `https://${TOKEN}@${host}/` } })),
    'VALIDATION_ERROR',
    {
      hint: /auth.*"type": "basic"/,
    },
  )
  for (const fine of ['ssh://git@example.com/docs', 'git@example.com:docs.git'])
    await expectData(library.service.post('/knowledge-sources', body({ configuration: { repository: fine } })), 201)
  assert.equal(findLeaks(), [])
})

test('credentials are only accepted for http and https repositories', async () => {
  for (const place of ['ssh://git@example.com/docs', 'git@example.com:docs.git', 'git://example.com/docs', join(root, 'projects/docs')])
    await expectError(
      library.service.post('/knowledge-sources', body({ auth: basic, configuration: { repository: place } })),
      'VALIDATION_ERROR',
      {
        field: 'auth',
      },
    )
  const source = await made({ auth: basic })
  await expectError(change(source.id, { configuration: { repository: 'git@example.com:docs.git' } }), 'VALIDATION_ERROR', { field: 'auth' })
  await expectError(
    library.service.post('/knowledge-sources', { name: 'x', type: 'text', configuration: { text: 'x' }, auth: basic }),
    'VALIDATION_ERROR',
  )
  const text = await expectData(library.service.post('/knowledge-sources', { name: 'x', type: 'text', configuration: { text: 'x' } }), 201)
  await expectError(change(text.id, { auth: basic }), 'VALIDATION_ERROR', { field: 'auth' })
})

test('an editor who changes the repository must enter the credentials again', async () => {
  const source = await expectData(
    library.service.post('/knowledge-sources', body({ auth: basic, configuration: { repository: 'https://example.com/a.git' } })),
    201,
  )
  const move = (to: string, more: Json = {}) => change(source.id, { configuration: { repository: to }, ...more }, 'editor')
  for (const to of ['https://evil.example/a.git', 'http://example.com/a.git', 'https://example.com/another.git'])
    await expectError(move(to), 'FORBIDDEN')
  await expectData(move('https://example.com/a.git'))
  await expectData(change(source.id, { configuration: { repository: 'https://example.com/a.git', branch: 'main' } }, 'editor'))
  assert.equal((await expectData(move('https://example.com/b.git', { auth: basic }))).auth, { type: 'basic' })
  assert.equal((await expectData(move('https://example.com/c.git', { auth: { type: 'none' } }))).auth, { type: 'none' })
  await expectData(change(source.id, { auth: basic }))
  await expectData(change(source.id, { configuration: { repository: 'https://example.com/d.git' } }))
})

test.run()
