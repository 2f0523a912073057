import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EventDecoder, type ServerEvent } from '../../../src/sse.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { ADMIN_TOKEN, type Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture, TemporaryFolder } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('events of a sync')
let knowledge: KnowledgeFixture
let embedder: ScriptedEmbedder
let model: { id: string }
let origin: string

const listen = async () => {
  origin = await knowledge.service.app.server.listen({ host: '127.0.0.1', port: 0 })
}

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    await listen()
    embedder = await ScriptedEmbedder.start()
    model = await knowledge.resources.model(embedder.model)
  }),
)
test.before.each(() => {
  embedder.release()
  embedder.failure = undefined
})
test.after(
  reportFailure(async () => {
    await embedder.close()
    await knowledge.close()
  }),
)

async function createScriptedSource(documents = 100) {
  const source = await knowledge.createSource()
  await knowledge.createTool(source.id, { embedding_model: model.id })
  for (let at = 0; at < documents; at++) await knowledge.addDocument(source.id, `${at}.md`, `Letter ${at} of a long correspondence.`)
  await knowledge.waitForSync(source.id)
  return source
}

interface EventStream {
  response: Response
  events: (ServerEvent & { value: Json })[]
  /** Resolves when the stream has ended. */
  ended: Promise<void>
  disconnect(): void
}

async function follow(sourceId: string): Promise<EventStream> {
  const controller = new AbortController()
  const response = await fetch(`${origin}/api/knowledge-sources/${sourceId}/sync/events`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    signal: controller.signal,
  })
  const events: EventStream['events'] = []
  const decoder = new EventDecoder()
  const ended = (async () => {
    const text = new TextDecoder()
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>)
      for (const event of decoder.push(text.decode(piece, { stream: true }))) events.push({ ...event, value: JSON.parse(event.data) })
  })()
  ended.catch(() => undefined) // reported to the callers that await it
  return { response, events, ended, disconnect: () => controller.abort() }
}

const names = ({ events }: EventStream) => events.map(({ event }) => event)

test('a sync streams its progress and then the source', async () => {
  const source = await createScriptedSource()
  embedder.hold()
  await knowledge.startSync(source.id)
  const stream = await follow(source.id)
  assert.is(stream.response.status, 200)
  assert.match(stream.response.headers.get('content-type') ?? '', /^text\/event-stream/)
  await waitFor(async () => stream.events.some(({ value }) => value.stage === 'embedding'))
  embedder.release()
  await stream.ended
  assert.is(names(stream).at(-1), 'sync_end')
  assert.equal(new Set(names(stream).slice(0, -1)), new Set(['progress']))
  const { value } = stream.events.at(-1) as { value: Json }
  assert.equal([value.id, value.status, value.progress], [source.id, 'active', null])
  assert.is(value.statistics.embedded, 100)
  const ids = stream.events.map(({ id }) => Number(id))
  assert.equal(
    ids,
    ids.map((_, at) => at + 1),
  )
  const chunks = stream.events.slice(0, -1).map((event) => event.value.chunks)
  assert.equal(
    chunks,
    [...chunks].sort((a, b) => a - b),
  )
})

test('the stream of an idle source ends immediately', async () => {
  const stream = await follow((await createScriptedSource(0)).id)
  await stream.ended
  assert.equal(names(stream), ['sync_end'])
})

test('the stream of a failed sync ends with its error', async () => {
  const source = await createScriptedSource(1)
  embedder.hold()
  embedder.failure = { status: 400, error: 'out of paper' }
  await knowledge.startSync(source.id)
  const stream = await follow(source.id)
  await waitFor(async () => embedder.holding > 0)
  embedder.release()
  await stream.ended
  assert.is(names(stream).at(-1), 'error')
  assert.match(stream.events.at(-1)?.value.error, /out of paper/)
  assert.type(stream.events.at(-1)?.value.code, 'string')
  const empty = await knowledge.createSource('folder', { path: new TemporaryFolder().path })
  const missing = await knowledge.createSource('folder', { path: '/nowhere/at/all' })
  for (const [{ id }, event] of [
    [empty, 'sync_end'],
    [missing, 'error'],
  ] as const) {
    await knowledge.sync(id)
    const lateStream = await follow(id)
    await lateStream.ended
    assert.equal(names(lateStream), [event])
  }
})

test('the stream of a cancelled sync ends with a pending source', async () => {
  const source = await createScriptedSource(1)
  embedder.hold()
  await knowledge.startSync(source.id)
  const stream = await follow(source.id)
  await waitFor(async () => embedder.holding > 0)
  await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}/sync`))
  await stream.ended
  assert.equal([names(stream).at(-1), stream.events.at(-1)?.value.status], ['sync_end', 'pending'])
})

test('a follower that disconnects affects neither other followers nor the sync', async () => {
  const source = await createScriptedSource(20)
  embedder.hold()
  await knowledge.startSync(source.id)
  const [first, second, third] = await Promise.all([follow(source.id), follow(source.id), follow(source.id)])
  await waitFor(async () => first.events.some(({ value }) => value.stage === 'embedding'))
  second.disconnect()
  await pause(50)
  embedder.release()
  await Promise.all([first.ended, third.ended])
  for (const stream of [first, third]) assert.is(names(stream).at(-1), 'sync_end')
  assert.is((await knowledge.waitForSync(source.id)).status, 'active')
  assert.not.match(knowledge.service.log, /"level":(50|60)/)
})

test('the events of a missing source return 404 before the first event', async () => {
  const response = await fetch(`${origin}/api/knowledge-sources/ks_00000000-0000-7000-8000-000000000000/sync/events`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  assert.is(response.status, 404)
  assert.is(((await response.json()) as Json).code, 'NOT_FOUND')
  await expectError(knowledge.service.get('/knowledge-sources/ks_00000000-0000-7000-8000-000000000000'), 'NOT_FOUND')
})

test('deleting a source ends its stream with an error', async () => {
  const source = await createScriptedSource(1)
  embedder.hold()
  await knowledge.startSync(source.id)
  const stream = await follow(source.id)
  await waitFor(async () => embedder.holding > 0)
  await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}?force=true`))
  await stream.ended
  assert.is(names(stream).at(-1), 'error')
  assert.is(stream.events.at(-1)?.value.code, 'NOT_FOUND')
})

test('stopping the daemon ends the stream with an error, and the sync resumes after the restart', async () => {
  const source = await createScriptedSource(3)
  embedder.hold()
  await knowledge.startSync(source.id)
  const stream = await follow(source.id)
  await waitFor(async () => embedder.holding > 0)
  knowledge = await knowledge.restart()
  await stream.ended
  assert.is(names(stream).at(-1), 'error')
  assert.is(stream.events.at(-1)?.value.code, 'UNAVAILABLE')
  assert.not(names(stream).includes('sync_end'))
  embedder.release()
  assert.equal((await knowledge.waitForSync(source.id)).statistics.embedded, 3)
  await listen()
  const lateStream = await follow(source.id)
  await lateStream.ended
  // The documents were read before the stop and embedded after it.
  assert.equal(lateStream.events.at(-1)?.value.changes, { read: 0, unreadable: 0, gone: 0, embedded: 3 })
})

test('the end of a sync reports what it changed, not totals', async () => {
  const folder = new TemporaryFolder()
  folder.write({ 'a.md': 'The first.', 'b.md': 'The second.', 'c.md': 'The third.' })
  const source = await knowledge.createSource('folder', { path: folder.path })
  await knowledge.createTool(source.id, { embedding_model: model.id })
  await knowledge.waitForSync(source.id)
  const changes = async () => {
    await knowledge.sync(source.id)
    const stream = await follow(source.id)
    await stream.ended
    return stream.events.at(-1)?.value.changes
  }
  const noChanges = { read: 0, unreadable: 0, gone: 0, embedded: 0 }
  assert.equal(await changes(), { ...noChanges, read: 3, embedded: 3 })
  assert.equal(await changes(), noChanges)
  for (const name of ['a.md', 'b.md']) folder.remove(name)
  folder.write({ 'd.md': 'The fourth.', 'broken.pdf': '%PDF-1.7 nothing' })
  assert.equal(await changes(), { read: 1, unreadable: 1, gone: 2, embedded: 1 })
  knowledge = await knowledge.restart()
  await listen()
  const unknown = await follow(source.id)
  await unknown.ended
  assert.equal([names(unknown), unknown.events.at(-1)?.value.changes], [['sync_end'], undefined])
})

test.run()
