/**
 * Checks that daemons share their records and documents: `CADRE_TOKEN=… node smoke-test.mjs URL URL…`. The first two URLs are those of daemons, a third
 * one that of a proxy. With KILL_PID, the process of the first daemon is killed at the end.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

const urls = process.argv.slice(2)
const [first, second] = urls
const headers = { authorization: `Bearer ${process.env.CADRE_TOKEN}`, 'content-type': 'application/json' }

async function request(method, url, body) {
  const response = await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) })
  const text = await response.text()
  assert.ok(response.ok, `${method} ${url} answered ${response.status}: ${text}`)
  return response.headers.get('content-type').startsWith('application/json') ? JSON.parse(text) : text
}
const call = async (method, url, body) => (await request(method, url, body)).data

async function waitFor(what, condition) {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(100)) if (await condition()) return
  assert.fail(`Timed out: ${what}`)
}

async function check(name, work) {
  const start = performance.now()
  await work()
  console.log(`ok  ${name} (${Math.round(performance.now() - start)} ms)`)
}

const suffix = Date.now().toString(36)
let agent
let conversation

await check('every address is live and ready', async () => {
  for (const url of urls) {
    assert.equal((await request('GET', `${url}/api/health/live`)).status, 'live')
    assert.equal((await request('GET', `${url}/api/health/ready`)).status, 'ready')
  }
})

await check('an agent created on one daemon is read on every address', async () => {
  agent = await call('POST', `${first}/api/agents`, { name: `Smoke test ${suffix}` })
  for (const url of urls) assert.deepEqual(await call('GET', `${url}/api/agents/${agent.id}`), agent)
})

await check('a conversation continues on another daemon', async () => {
  conversation = await call('POST', `${second}/api/conversations`, { agent_id: agent.id })
  const path = `/api/conversations/${conversation.id}/messages`
  for (const url of urls) await call('POST', url + path, { message: 'What do you know?' })
  const { messages } = await call('GET', `${second}/api/conversations/${conversation.id}`)
  assert.equal(messages.length, 2 * urls.length)
})

await check('a reply of one daemon is followed on another one', async () => {
  const path = `/api/conversations/${conversation.id}/messages`
  const response = await fetch(first + path, { method: 'POST', headers, body: JSON.stringify({ message: 'And now?', stream: true }) })
  const events = await response.text()
  const [, id] = /"message_id":"([^"]+)"/.exec(events) ?? []
  assert.match(await request('GET', `${second}${path}/${id}/events`), /event: message_end/)
})

await check('a changed setting applies on another daemon', async () => {
  const { conversation_idle_minutes: before } = await call('GET', `${first}/api/settings`)
  await call('PUT', `${first}/api/settings`, { conversation_idle_minutes: before + 1 })
  await waitFor('the setting', async () => (await call('GET', `${second}/api/settings`)).conversation_idle_minutes === before + 1)
  await call('PUT', `${first}/api/settings`, { conversation_idle_minutes: before })
})

await check('a revoked token is refused by every daemon', async () => {
  const { id, token } = await call('POST', `${first}/api/tokens`, { name: `Smoke test ${suffix}`, role: 'viewer' })
  const read = (url) => fetch(`${url}/api/agents`, { headers: { authorization: `Bearer ${token}` } })
  for (const url of urls) assert.equal((await read(url)).status, 200)
  await request('DELETE', `${first}/api/tokens/${id}`)
  await waitFor('the revocation', async () => (await Promise.all(urls.map(read))).every(({ status }) => status === 401))
})

if (process.env.CADRE_STORAGE_URL)
  await check('a document added on one daemon is found on every address', async () => {
    const source = await call('POST', `${first}/api/knowledge-sources`, { name: `Smoke test ${suffix}`, type: 'file' })
    const tool = await call('POST', `${second}/api/retrieval-tools`, { name: `Smoke test ${suffix}`, knowledge_source_ids: [source.id] })
    const document = { name: 'leave.md', content: '# Leave\n\nEmployees have 25 days of annual leave.' }
    await call('POST', `${first}/api/knowledge-sources/${source.id}/documents`, document)
    const search = (url) => call('POST', `${url}/api/retrieval-tools/${tool.id}/search`, { query: 'How many days of annual leave?' })
    for (const url of urls) await waitFor(`the document at ${url}`, async () => /25 days/.test((await search(url)).results[0]?.content))
    await request('DELETE', `${second}/api/retrieval-tools/${tool.id}`)
    await request('DELETE', `${second}/api/knowledge-sources/${source.id}`)
  })

await check('every daemon reports metrics', async () => {
  for (const url of [first, second]) assert.match(await request('GET', `${url}/api/metrics`), /^cadre_info\{version="[^"]+"\} 1$/m)
})

await request('DELETE', `${first}/api/conversations/${conversation.id}`)
await request('DELETE', `${first}/api/agents/${agent.id}`)

if (process.env.KILL_PID)
  await check('when the first daemon is killed, the other addresses still answer', async () => {
    process.kill(Number(process.env.KILL_PID), 'SIGKILL')
    for (const url of urls.slice(1)) for (let count = 0; count < 10; count++) await request('GET', `${url}/api/agents`)
  })
console.log('The smoke test passed.')
