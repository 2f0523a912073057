import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { contradicts, normalizeFact } from '../../daemon/memories/compare-facts.ts'
import { containsSecret } from '../../daemon/memories/detect-secret.ts'
import { hasExpiredMemories, listMemories } from '../../daemon/memories/store.ts'
import type { DatabaseReader, Value } from '../../daemon/store/database.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const test = suite('memories')
let server: TestServer
let agent: Json

test.before(async () => {
  server = await TestServer.start()
  agent = await new Resources(server).agent({ memory: true })
})
test.after(() => server.close())

const add = (content: string, fields: object = {}, as = 'admin') =>
  server.post('/memories', { agent_id: agent.id, content, ...fields }, { as })
const list = async (query = '', as = 'admin'): Promise<Json[]> => (await server.get(`/memories?limit=100${query}`, { as })).data

test('a known fact is stored once, and a contradicting one replaces it and keeps it in the history', async () => {
  const { id } = await expectData(add('My favorite color is blue.'), 201)
  assert.is((await expectData(add('my favorite color is BLUE'), 201)).id, id)
  const replaced = await expectData(add('My favorite color is red.'), 201)
  assert.equal(
    [replaced.id, replaced.content, replaced.history.map(({ content }: Json) => content)],
    [id, 'My favorite color is red.', ['My favorite color is blue.']],
  )
  assert.is((await list()).length, 1)
})

test('only a value that a thing has one of is contradicted', () => {
  const check = (one: string, other: string) => contradicts(normalizeFact(one), normalizeFact(other))
  assert.equal(
    [
      check('The budget of Atlas is 500 euros', 'The budget of Atlas is 300 euros'),
      check('The user lives in Paris', 'The user lives in Berlin'),
      check('The user likes tea', 'The user likes coffee'),
      check('The user is a lawyer', 'The user is vegetarian'),
      check('The code of Ada is 1', 'The code of Bob is 2'),
      check('The user owns a cat', 'The user owns a dog'),
    ],
    [true, true, false, false, false, false],
  )
})

test('keys, tokens and passwords are never stored', async () => {
  const secrets = [
    'The admin password is x',
    'PIN: 4711',
    'api_key=abcdef',
    'The key is sk-abcdefghijklmnop1234',
    'Das Passwort für den Server ist hunter2',
    'postgres://ada:secret@db.example.com/app',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  ]
  for (const secret of secrets) assert.ok(containsSecret(secret), secret)
  for (const fact of ['The user has password issues', 'The password manager is KeePass', 'The user likes tokens of affection'])
    assert.not.ok(containsSecret(fact), fact)
  await expectError(add(secrets[0] as string), 'VALIDATION_ERROR')
  const { id } = await expectData(add('The user drives a van'), 201)
  await expectError(server.put(`/memories/${id}`, { content: secrets[0] }), 'VALIDATION_ERROR')
})

test('memories are found by words and by meaning', async () => {
  await expectData(add('The user works in the Berlin office.'), 201)
  await expectData(add('The user is allergic to peanuts.'), 201)
  const search = async (query: string) =>
    (await expectData(server.post('/memories/search', { agent_id: agent.id, query }))).memories[0].content
  assert.is(await search('Berlin'), 'The user works in the Berlin office.')
  assert.is(await search('Which food should I avoid?'), 'The user is allergic to peanuts.')
})

test('a search reads only the memories of its user, however many others have', async () => {
  const plans: string[] = []
  const explain = async <T>(sql: string, values: readonly Value[] = []): Promise<T[]> => {
    for (const { detail } of await server.database.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)) plans.push(detail)
    return []
  }
  const reader = { ...server.database, all: explain } as DatabaseReader
  await listMemories(reader, { agentId: agent.id, userId: 'zoe' }, 10)
  await hasExpiredMemories(reader, new Date().toISOString())
  assert.equal(
    plans.filter((plan) => /^(SCAN|SEARCH)/.test(plan)).map((plan) => plan.replace(/^.*INDEX (\w+) /, '$1 ')),
    ['memories_by_owner (agent_id=? AND user_id=?)', 'memories_by_expires_at (expires_at<?)'],
  )
})

test('a user neither sees nor changes the memories of another one', async () => {
  const own = await expectData(add('Zoe plays chess', { user_id: 'zoe' }), 201)
  const members = ['member', 'editor', 'viewer']
  for (const as of members) {
    assert.not.ok(
      (await list('', as)).some(({ user_id }) => user_id === 'zoe'),
      as,
    )
    assert.equal(await list('&user_id=zoe', as), [])
    await expectError(server.get(`/memories/${own.id}`, { as }), 'NOT_FOUND')
    await expectError(server.post('/memories/search', { agent_id: agent.id, query: 'chess', user_id: 'zoe' }, { as }), 'FORBIDDEN')
  }
  for (const as of ['member', 'editor']) {
    await expectError(add('Zoe hates chess', { user_id: 'zoe' }, as), 'FORBIDDEN')
    await expectError(server.put(`/memories/${own.id}`, { content: 'x' }, { as }), 'NOT_FOUND')
    await expectError(server.delete(`/memories/${own.id}`, { as }), 'NOT_FOUND')
    await expectError(server.delete('/memories?user_id=zoe', { as }), 'FORBIDDEN')
  }
  assert.is((await server.get(`/memories/${own.id}`)).status, 200)
})

test('an expired memory is deleted, and all memories of a user are, with their vectors', async () => {
  const { id } = await expectData(add('Eve is on leave', { user_id: 'eve', expires_at: '2020-01-01T00:00:00Z' }), 201)
  assert.equal(await list('&user_id=eve'), [])
  await expectError(server.get(`/memories/${id}`), 'NOT_FOUND')
  for (const content of ['Eve sings', 'Eve has two bikes']) await expectData(add(content, { user_id: 'eve' }), 201)
  const { message } = (await server.delete('/memories?user_id=eve')).body
  assert.is(message, '2 memories were deleted.')
  assert.equal(await server.database.all("SELECT * FROM memories WHERE user_id = 'eve'"), [])
})

test('memories are deleted with their agent', async () => {
  const other = await new Resources(server).agent()
  await expectData(server.post('/memories', { agent_id: other.id, content: 'x y z' }), 201)
  await server.delete(`/agents/${other.id}`)
  assert.equal(await list(`&agent_id=${other.id}`), [])
})

test.run()
