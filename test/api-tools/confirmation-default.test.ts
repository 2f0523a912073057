import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MIGRATIONS, migrate } from '../../daemon/store/migrate.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { uniqueName } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const test = suite('confirmation of API tools by default')
let service: TestServer

test.before(
  reportFailure(async () => {
    service = await TestServer.start()
  }),
)
test.after(reportFailure(() => service.close()))

const CHANGING_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE']
const editor = { as: 'editor' }
const ORIGIN = 'https://api.example.com'
/** A valid operationId, so that imports keep it. */
const createName = (prefix: string) => uniqueName(prefix).replaceAll(/\W/g, '_')
const create = (fields: object, options = {}) =>
  service.post('/api-tools', { name: createName('tool'), url: `${ORIGIN}/a`, ...fields }, options)
const update = (id: string, fields: object, options = {}) => service.patch(`/api-tools/${id}`, fields, options)
const requiresConfirmation = async (response: ReturnType<typeof create>) => (await expectData(response)).requires_confirmation

test('tools with a method other than GET require confirmation unless an admin decides otherwise', async () => {
  assert.is(await requiresConfirmation(create({})), false)
  assert.is(await requiresConfirmation(create({ requires_confirmation: true })), true)
  assert.is(await requiresConfirmation(create({ requires_confirmation: false }, editor)), false)
  for (const method of CHANGING_METHODS) {
    for (const options of [{}, editor]) assert.is(await requiresConfirmation(create({ method }, options)), true)
    assert.is(await requiresConfirmation(create({ method, requires_confirmation: false })), false)
    await expectError(create({ method, requires_confirmation: false }, editor), 'FORBIDDEN', {
      error: new RegExp(`^Only an admin may allow ${method} requests without confirmation`),
    })
    const { id } = await expectData(create({ method }, editor))
    await expectError(update(id, { requires_confirmation: false }, editor), 'FORBIDDEN')
    assert.is(await requiresConfirmation(update(id, { requires_confirmation: false })), false)
    assert.is(await requiresConfirmation(update(id, { description: 'x', requires_confirmation: false }, editor)), false, 'unchanged')
  }
})

test('the decision of an admin is valid for one method and URL', async () => {
  for (const fields of [{ method: 'DELETE' }, { url: `${ORIGIN}/b` }, { url: `${ORIGIN}/a?all=true` }]) {
    const { id } = await expectData(create({ method: 'POST', requires_confirmation: false }))
    assert.is(await requiresConfirmation(update(id, { timeout_ms: 500 }, editor)), false)
    await expectError(update(id, { ...fields, requires_confirmation: false }, editor), 'FORBIDDEN')
    assert.is(await requiresConfirmation(update(id, { ...fields, requires_confirmation: false })), false)
    const { id: another } = await expectData(create({ method: 'POST', requires_confirmation: false }))
    assert.is(await requiresConfirmation(update(another, fields, editor)), true)
  }
  const { id } = await expectData(create({}))
  assert.is(await requiresConfirmation(update(id, { method: 'DELETE' }, editor)), true)
  assert.is(await requiresConfirmation(update(id, { method: 'GET' }, editor)), true, 'stays until it is turned off')
  assert.is(await requiresConfirmation(update(id, { requires_confirmation: null }, editor)), false)
  const { id: allowed } = await expectData(create({ method: 'POST', requires_confirmation: false }))
  assert.is(await requiresConfirmation(update(allowed, { requires_confirmation: null })), true, 'null restores the default of the method')
})

test('an import that changes the method or URL of a tool resets its permissions', async () => {
  const importTool = (name: string, verb: string, path: string, more: object = {}, options = {}) => {
    const paths = { [path]: { [verb]: { operationId: name, summary: `${verb} ${path}`, responses: {} } } }
    const document = { openapi: '3.0.0', info: { title: 'T', version: '1' }, servers: [{ url: ORIGIN }], paths }
    return service.post('/api-tools/import', { document, update: true, ...more }, options)
  }
  const permissions = { requires_confirmation: false, allow_private_network: true }
  const getPermissions = ({ requires_confirmation, allow_private_network }: Json) => [requires_confirmation, allow_private_network]
  for (const [verb, path] of [
    ['delete', '/a'],
    ['post', '/b'],
  ] as const) {
    const { id, name } = await expectData(create({ method: 'POST', ...permissions }))
    await expectData(importTool(name, 'post', '/a'))
    const kept = await expectData(service.get(`/api-tools/${id}`))
    assert.equal([kept.description, ...getPermissions(kept)], ['post /a', false, true])
    await expectError(importTool(name, verb, path, {}, editor), 'FORBIDDEN')
    const [{ action, notes }] = (await expectData(importTool(name, verb, path))).tools
    assert.equal(
      [action, notes],
      [
        'update',
        [
          'Calls require confirmation again, because its method or URL changed.',
          'It has no access to the private network any more, because its method or URL changed.',
        ],
      ],
    )
    assert.equal(getPermissions(await expectData(service.get(`/api-tools/${id}`))), [true, false])
    const { id: another, name: anotherName } = await expectData(create({ method: 'POST', ...permissions }))
    await expectData(importTool(anotherName, verb, path, permissions))
    assert.equal(getPermissions(await expectData(service.get(`/api-tools/${another}`))), [false, true])
  }
  await expectError(importTool(createName('new'), 'post', '/a', { requires_confirmation: false }, editor), 'FORBIDDEN')
})

test('files have the same default, and contain the decision of an admin', async () => {
  const name = uniqueName('declared')
  const declare = (fields: object, options = {}) =>
    service.post(
      '/apply',
      { resources: [{ family: 'api-tools', fields: { name, url: `${ORIGIN}/a`, method: 'POST', ...fields } }] },
      options,
    )
  const apply = async (fields: object, options = {}) => {
    const { changes } = await expectData(declare(fields, options))
    const tool = await expectData(service.get(`/api-tools/${changes[0].id}`))
    assert.is((await expectData(declare(fields))).changes[0].action, 'unchanged', JSON.stringify(fields))
    return tool.requires_confirmation
  }
  assert.is(await apply({}, editor), true)
  await expectError(declare({ requires_confirmation: false }, editor), 'FORBIDDEN')
  assert.is(await apply({ requires_confirmation: false }), false)
  const { resources } = await expectData(service.get('/export'))
  const exported = resources.find(({ fields }: Json) => fields.name === name)
  assert.is(exported.fields.requires_confirmation, false)
  assert.is(await apply({ requires_confirmation: false, url: `${ORIGIN}/b` }), false)
  await expectError(declare({ requires_confirmation: false, url: `${ORIGIN}/c` }, editor), 'FORBIDDEN')
  assert.is(await apply({ url: `${ORIGIN}/c` }), true)
  assert.is(await apply({ method: 'GET' }), false)
  assert.is(await apply({ method: 'DELETE' }, editor), true)
})

test('existing tools with a method other than GET require confirmation after an upgrade', async () => {
  const { id: read } = await expectData(create({}))
  const { id: write } = await expectData(create({ method: 'DELETE', requires_confirmation: false }))
  const { id: approved } = await expectData(create({ requires_confirmation: true }))
  const home = await service.stop()
  service = await TestServer.start({ home })
  assert.is(await requiresConfirmation(service.get(`/api-tools/${write}`)), false, 'the decision is kept after the upgrade')
  const name = MIGRATIONS.map((migration) => migration.name).find((migration) => migration.endsWith('tool-confirmation'))
  await service.database.write((transaction) => transaction.run('DELETE FROM migrations WHERE name = ?', [name ?? '']))
  await migrate(service.database)
  for (const [id, expected] of [
    [read, 0],
    [write, 1],
    [approved, 1],
  ])
    assert.equal(await service.database.get('SELECT requires_confirmation FROM api_tools WHERE id = ?', [id as string]), {
      requires_confirmation: expected,
    })
})

test.run()
