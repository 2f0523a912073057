import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CadreError } from '../../src/contract/errors.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { PausableDisk } from '../harness/pausable-disk.ts'
import type { Json } from '../harness/test-server.ts'
import { KnowledgeFixture } from '../knowledge/knowledge-fixture.ts'
import { ScriptedEmbedder } from '../knowledge/scripted-embedder.ts'

const test = suite('full disk')
const QUESTION = { query: 'How many days of leave do I have?' }

/** Mounts a small disk, which only root can do. */
function mountDisk(megabytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
    return folder
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
}

function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder])
  rmSync(folder, { recursive: true })
}

function fill(folder: string): void {
  for (const block of [Buffer.alloc(1024 * 1024), Buffer.alloc(4096), Buffer.alloc(1)]) {
    try {
      for (;;) appendFileSync(join(folder, 'filler'), block)
    } catch (error) {
      assert.is((error as NodeJS.ErrnoException).code, 'ENOSPC')
    }
  }
}

interface Prepared {
  knowledge: KnowledgeFixture
  source: Json
  rag: Json
  searches: Json[]
}

async function prepare(knowledge: KnowledgeFixture): Promise<Prepared> {
  const source = await knowledge.createSyncedSource({ 'leave.md': 'Every employee has twenty-five days of paid annual leave.' })
  const rag = await knowledge.resources.ragTool({ knowledge_source_id: source.id })
  const methods = ['semantic', 'full_text', 'hybrid']
  const searches = await Promise.all(methods.map((search_method) => knowledge.createTool(source.id, { search_method })))
  await knowledge.waitForSync(source.id)
  return { knowledge, source, rag, searches }
}

/** Searches and questions answered by embedded models write nothing that is needed. */
async function expectReadsWork({ knowledge, rag, searches }: Prepared): Promise<void> {
  for (let round = 0; round < 3; round++) {
    for (const { id } of searches) {
      const { results } = await expectData(knowledge.service.post(`/retrieval-tools/${id}/search`, { ...QUESTION, rerank: true }))
      assert.is(results[0].metadata.source, 'leave.md')
    }
    const { answer, usage } = await expectData(knowledge.service.post(`/rag-tools/${rag.id}/query`, QUESTION))
    assert.match(answer, /twenty-five days/i)
    assert.ok(usage.total_tokens > 0)
  }
  const key = { headers: { 'idempotency-key': 'search' } }
  await expectData(knowledge.service.post(`/retrieval-tools/${searches[0].id}/search`, QUESTION, key))
}

const disk = mountDisk(64)
const onSmallDisk = disk === undefined ? test.skip : test

onSmallDisk('on a full disk, searches, questions, lists and other reads work, and changes return 507', async () => {
  const folder = disk as string
  const knowledge = await KnowledgeFixture.start({ home: join(folder, 'home') })
  try {
    const prepared = await prepare(knowledge)
    const talk = await knowledge.resources.conversation()
    fill(folder)
    await expectError(knowledge.service.post('/agents', { name: 'x', system_prompt: 'x'.repeat(50_000) }), 'STORAGE_FULL')
    await expectReadsWork(prepared)
    const { id } = prepared.source
    for (const path of [
      '/health',
      '/status',
      '/agents',
      '/models',
      '/rag-tools?sort=name',
      '/conversations',
      `/conversations/${talk.id}`,
      `/conversations/${talk.id}/messages`,
      `/knowledge-sources/${id}`,
      `/knowledge-sources/${id}/documents`,
      '/usage/stats',
      '/usage/costs',
      '/analytics/conversations',
      '/evaluations',
      '/webhooks',
      '/tokens',
      '/export',
    ])
      assert.is((await knowledge.service.get(path)).status, 200, path)
    await expectError(knowledge.service.post(`/conversations/${talk.id}/messages`, { message: 'x'.repeat(50_000) }), 'STORAGE_FULL')
    rmSync(join(folder, 'filler'))
    await knowledge.resources.agent()
  } finally {
    await knowledge.service.stop()
    unmount(folder)
  }
})

test('if usage cannot be stored, embedded models still answer, and models that cost money are not called', async () => {
  const flushes = new PausableDisk()
  const knowledge = await KnowledgeFixture.start({ disk: flushes.open })
  const embedder = await ScriptedEmbedder.start()
  try {
    const prepared = await prepare(knowledge)
    const { id } = await knowledge.resources.model({ ...embedder.model, model_id: 'embed', pricing: { input: 1, output: 0 } })
    const paid = await knowledge.createTool(prepared.source.id, { embedding_model: id })
    await knowledge.waitForSync(prepared.source.id)
    const { requests } = embedder
    flushes.failure = new CadreError('STORAGE_FULL', 'The disk is full.')
    await expectReadsWork(prepared)
    await expectError(knowledge.service.post(`/retrieval-tools/${paid.id}/search`, QUESTION), 'STORAGE_FULL')
    assert.is(embedder.requests, requests)
  } finally {
    flushes.failure = undefined
    await knowledge.close()
    await embedder.close()
  }
})

test.run()
