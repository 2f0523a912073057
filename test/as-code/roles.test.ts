import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const test = suite<{ service: TestServer }>('as code: roles')
const WEBHOOK = {
  family: 'webhooks',
  file: 'webhooks/h.yaml',
  fields: { url: 'https://hooks.example.com/', events: ['conversation.completed'] },
}
const MODEL = { family: 'models', fields: { name: 'Cloud', provider: 'openai', model_id: 'gpt-4o', api_key: 'sk-one-0123456789' } }
const FOLDER = {
  family: 'knowledge-sources',
  file: 'knowledge-sources/f.yaml',
  fields: { name: 'Files', type: 'folder', configuration: { path: '/srv/docs' } },
}

test.before(
  reportFailure(async (context) => {
    context.service = await TestServer.start()
    await expectData(context.service.post('/apply', { resources: [WEBHOOK, MODEL, FOLDER] }))
  }),
)
test.after(reportFailure(({ service }) => service.close()))

const families = (all: Json[]) => [...new Set(all.map(({ family }) => family))]

test('an export contains what the caller may list, and notes the rest', async ({ service }) => {
  for (const as of ['editor', 'viewer'] as const) {
    const { resources, notes } = await expectData(service.get('/export', { as }))
    assert.equal(families(resources), ['models', 'knowledge-sources', 'settings'])
    assert.match(notes.join('\n'), 'Not exported: webhooks are visible to admins only')
  }
  assert.equal(families((await expectData(service.get('/export'))).resources), ['models', 'knowledge-sources', 'webhooks', 'settings'])
  await expectError(service.get('/export', { as: 'member' }), 'FORBIDDEN')
})

test('an editor can apply and prune only what an editor may change', async ({ service }) => {
  const apply = (resources: Json[], more: Json = {}) => service.post('/apply', { resources, ...more }, { as: 'editor' })
  // Unchanged resources need no permission.
  const { changes } = await expectData(
    apply([MODEL, FOLDER, { family: 'agents', fields: { name: 'Helper', model_id: 'Cloud' } }], { prune: true }),
  )
  assert.equal(
    changes.map(({ action, name }: Json) => `${action} ${name}`),
    ['unchanged Cloud', 'unchanged Files', 'create Helper'],
  )
  const elsewhere = { ...FOLDER, fields: { ...FOLDER.fields, configuration: { path: '/etc' } } }
  await expectError(apply([elsewhere]), 'FORBIDDEN', { error: /^knowledge-sources\/f\.yaml: Only an admin may set paths/ })
  await expectError(apply([{ ...MODEL, fields: { ...MODEL.fields, api_key: 'sk-two-0123456789' } }]), 'FORBIDDEN', {
    error: /key of a model/,
  })
  await expectError(apply([WEBHOOK]), 'FORBIDDEN', { error: /^webhooks\/h\.yaml: only admins can apply webhooks/ })
  assert.is((await service.get('/webhooks')).body.pagination.total, 1)
  for (const as of ['member', 'viewer'] as const)
    await expectError(service.post('/apply', { resources: [MODEL], dry_run: true }, { as }), 'FORBIDDEN')
})

test.run()
