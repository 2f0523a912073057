import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('knowledge sources')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

const make = (type: string, configuration?: unknown, as = 'admin') =>
  server.post('/knowledge-sources', { name: 'source', type, ...(configuration === undefined ? {} : { configuration }) }, { as })

test('a file source requires no configuration and starts pending and empty', async () => {
  const source = await expectData(make('file'), 201)
  assert.equal([source.type, source.status, source.last_sync, source.configuration], ['file', 'pending', null, {}])
  assert.equal(source.statistics, { documents: 0, chunks: 0, failed: 0, skipped: 0, skipped_types: {}, embedded: 0, recognizing: 0 })
})

const VALID: Record<string, object[]> = {
  file: [
    {},
    { file_types: ['pdf', 'MD'], max_file_size: 1 },
    { max_file_size: 1024 ** 3, schedule: '0 3 * * *' },
    { paths: ['/srv/handbook', 'relative'] },
  ],
  folder: [
    { path: '/srv/docs' },
    {
      path: '/srv/docs',
      include: ['**/*.md'],
      exclude: ['node_modules/**'],
      gitignore: false,
      watch: true,
      file_types: ['md'],
      schedule: '*/5 * * * *',
    },
  ],
  url: [
    { url: 'https://example.com/' },
    { url: 'HTTP://example.com', mode: 'site', max_depth: 10, max_pages: 10_000 },
    { url: 'https://example.com/sitemap.xml', mode: 'sitemap', allow_private_network: true },
  ],
  git: [
    { repository: 'https://example.com/x.git' },
    { repository: 'git@example.com:team/x.git', branch: 'release/1.x' },
    { repository: 'ssh://git@example.com/x' },
    { repository: '/srv/x.git', include: ['docs/**'] },
  ],
  text: [{ text: 'x' }, { text: 'ü'.repeat(400_000) }],
}
const INVALID: Record<string, object[]> = {
  file: [
    { file_types: [] },
    { file_types: ['.md'] },
    { file_types: ['md', 'md'] },
    { file_types: 'md' },
    { max_file_size: 0 },
    { max_file_size: 1024 ** 3 + 1 },
    { path: '/x' },
    { paths: [''] },
    { paths: ['a\u0000b'] },
    { schedule: 'sometimes' },
    { url: 'https://example.com' },
  ],
  folder: [
    {},
    { path: '' },
    { path: './docs' },
    { path: '~/docs' },
    { path: 5 },
    { path: '/x', include: '*.md' },
    { path: '/x', watch: 'yes' },
    { path: '/x', paths: ['/y'] },
  ],
  url: [
    {},
    { url: 'example.com' },
    { url: 'ftp://example.com' },
    { url: 'https://u:p@example.com/' },
    { url: 'https://' },
    { url: 'https://example.com', mode: 'all' },
    { url: 'https://example.com', max_depth: 11 },
    { url: 'https://example.com', max_pages: 0 },
  ],
  git: [
    {},
    { repository: '--upload-pack=touch /tmp/x' },
    { repository: 'ssh://-oProxyCommand=touch@example.com/x' },
    { repository: 'ssh://%2doProxyCommand=touch@example.com/x' },
    { repository: '-oProxyCommand@example.com:x' },
    { repository: 'ext::sh -c touch% /tmp/x' },
    { repository: 'relative/path' },
    { repository: 'file:///srv/x' },
    { repository: 'https://example.com/x.git', branch: '--orphan' },
    { repository: 'https://example.com/x.git', branch: 'a b' },
    { repository: 'a\nb' },
  ],
  text: [{}, { text: '' }, { text: 5 }, { text: 'x', path: '/x' }],
}

for (const [type, configurations] of Object.entries(VALID)) {
  test(`a ${type} source stores a valid configuration unchanged`, async () => {
    for (const configuration of configurations) {
      const source = await expectData(make(type, configuration), 201)
      assert.equal(source.configuration, configuration)
      assert.equal((await expectData(server.get(`/knowledge-sources/${source.id}`))).configuration, configuration)
    }
  })
}
for (const [type, configurations] of Object.entries(INVALID)) {
  test(`a ${type} source rejects an invalid configuration on create and update`, async () => {
    const { id } = await expectData(make(type, VALID[type]?.[0]), 201)
    for (const configuration of configurations) {
      for (const attempt of [make(type, configuration), server.put(`/knowledge-sources/${id}`, { configuration })]) {
        const body = await expectError(attempt, 'VALIDATION_ERROR')
        assert.match(body.details[0].field, /^configuration/, JSON.stringify(configuration))
      }
    }
    assert.equal((await expectData(server.get(`/knowledge-sources/${id}`))).configuration, VALID[type]?.[0])
  })
}

test('the type of a source is required, validated and cannot be changed', async () => {
  await expectError(server.post('/knowledge-sources', { name: 'x' }), 'VALIDATION_ERROR', { field: 'type' })
  await expectError(make('folders', { path: '/x' }), 'VALIDATION_ERROR', { field: 'type', error: /file, folder, url, git, text/ })
  await expectError(make('folder'), 'VALIDATION_ERROR', { field: 'configuration' })
  const source = await resources.source()
  await expectError(server.put(`/knowledge-sources/${source.id}`, { type: 'text' }), 'VALIDATION_ERROR', { field: 'type' })
  await expectError(server.put(`/knowledge-sources/${source.id}`, { status: 'active' }), 'VALIDATION_ERROR', { field: 'status' })
})

test('an update replaces the configuration completely or keeps it', async () => {
  const source = await resources.source({ configuration: { file_types: ['md'], max_file_size: 5 } })
  assert.equal((await expectData(server.put(`/knowledge-sources/${source.id}`, { name: 'x' }))).configuration, {
    file_types: ['md'],
    max_file_size: 5,
  })
  assert.equal((await expectData(server.put(`/knowledge-sources/${source.id}`, { configuration: { max_file_size: 6 } }))).configuration, {
    max_file_size: 6,
  })
})

test('only admins can use local paths and private networks in sources', async () => {
  const own: [string, object][] = [
    ['file', { paths: ['/etc'] }],
    ['folder', { path: '/etc' }],
    ['git', { repository: '/srv/x' }],
    ['url', { url: 'https://x.example', allow_private_network: true }],
  ]
  for (const [type, configuration] of own) await expectError(make(type, configuration, 'editor'), 'FORBIDDEN', { error: /Only an admin/ })
  for (const [type, configuration] of [
    ['file', { paths: [] }],
    ['git', { repository: 'https://x.example/y' }],
    ['url', { url: 'https://x.example' }],
    ['text', { text: 'x' }],
  ] as const)
    await expectData(make(type, configuration, 'editor'), 201)
  const source = await resources.source()
  await expectError(server.put(`/knowledge-sources/${source.id}`, { configuration: { paths: ['/etc'] } }, { as: 'editor' }), 'FORBIDDEN')
  const folder = await expectData(make('folder', { path: '/srv' }))
  assert.is((await expectData(server.put(`/knowledge-sources/${folder.id}`, { name: 'renamed' }, { as: 'editor' }))).name, 'renamed')
  await expectError(server.put(`/knowledge-sources/${folder.id}`, { configuration: { path: '/etc' } }, { as: 'editor' }), 'FORBIDDEN')
})

test('members cannot access sources', async () => {
  const source = await resources.source()
  for (const path of ['/knowledge-sources', `/knowledge-sources/${source.id}`, `/knowledge-sources/${source.id}/documents`])
    await expectError(server.get(path, { as: 'member' }), 'FORBIDDEN')
})

test.run()
