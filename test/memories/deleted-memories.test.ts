import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../harness/expect.ts'
import { Resources } from '../harness/resources.ts'
import { isOnServer } from '../harness/sqld/test-database.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('deleted memories')
/** A server has files of its own. */
const check = isOnServer ? test.skip : test
const MEMORIES = 150

/** Files of the home that contain the text. */
const findFiles = (home: string, text: string): string[] =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text))

check('after a memory is deleted, no file of the home contains it', async () => {
  const server = await TestServer.start()
  try {
    const agent = await new Resources(server).agent({ memory: true })
    const content = 'The user collects heliotropes'
    const { id } = await expectData(server.post('/memories', { agent_id: agent.id, content }), 201)
    assert.ok(findFiles(server.paths.home, 'heliotrope').length > 0)
    assert.is((await server.delete(`/memories/${id}`)).status, 200)
    assert.equal(findFiles(server.paths.home, 'heliotrope'), [])
  } finally {
    await server.close()
  }
})

check('after all memories of a user are deleted, no file of the home contains them, and an event tells of each', async () => {
  const server = await TestServer.start()
  try {
    const { home } = server.paths
    const agent = await new Resources(server).agent({ memory: true })
    const add = (content: string, key: string) =>
      expectData(server.post('/memories', { agent_id: agent.id, user_id: 'ivy', content }, { headers: { 'idempotency-key': key } }), 201)
    for (let number = 0; number < MEMORIES; number++) await add(`The budget of project ${number} is heliotrope`, `add-${number}`)
    await add('The budget of project 1 is red', 'replace')
    assert.ok(findFiles(home, 'heliotrope').length > 0)
    assert.is((await server.delete('/memories?user_id=ivy')).body.message, `${MEMORIES} memories were deleted.`)
    assert.equal(findFiles(home, 'heliotrope'), [])
    const events = await server.database.all<{ body: string }>("SELECT body FROM events WHERE type = 'memory.deleted'")
    assert.is(events.filter(({ body }) => JSON.parse(body).data.user_id === 'ivy').length, MEMORIES)
  } finally {
    await server.close()
  }
})

test.run()
