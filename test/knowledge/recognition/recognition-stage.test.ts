import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDeferred } from '../../../daemon/async/deferred.ts'
import { getRecognitionFiles } from '../../../daemon/knowledge/recognition/recognition-files.ts'
import type { PageRecognizer } from '../../../daemon/knowledge/recognition/recognition-pool.ts'
import { expectData } from '../../harness/expect.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'
import { zip } from '../readers/document-fixtures.ts'

const test = suite('recognition stage')

const readFixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url))

/** Recognises the same text on every page, when it is released. */
class ScriptedRecognizer implements PageRecognizer {
  pages = 0
  /** Of the last document. */
  languages: string[] = []
  text = 'The ferry to Brill leaves at nine.'
  readonly #released = createDeferred<void>()

  release = () => this.#released.resolve()

  async recognize(...[{ pages, languages }, onPage, { signal }]: Parameters<PageRecognizer['recognize']>): Promise<void> {
    this.languages = languages.map(({ language }) => language)
    for (const page of pages) {
      this.pages++
      await Promise.race([this.#released.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      signal.throwIfAborted()
      await onPage({ page, text: this.text, confidence: 90 })
    }
  }

  verify = () => Promise.resolve()
  close = () => Promise.resolve()
}

async function createSource(knowledge: KnowledgeFixture, configuration?: Record<string, unknown>) {
  const source = await knowledge.createSource('file', configuration)
  await knowledge.createTool(source.id)
  await knowledge.waitForSync(source.id)
  return source
}

async function upload(knowledge: KnowledgeFixture, sourceId: string, name: string): Promise<void> {
  const body = { name, content_base64: readFixture(name).toString('base64'), index: false }
  await expectData(knowledge.service.post(`/knowledge-sources/${sourceId}/documents`, body), 201)
}

const listStatuses = async (knowledge: KnowledgeFixture, sourceId: string, filter = '') => {
  const documents = await expectData(knowledge.service.get(`/knowledge-sources/${sourceId}/documents?sort=name&order=asc${filter}`))
  return Object.fromEntries(documents.map(({ name, status }: { name: string; status: string }) => [name, status]))
}

const waitForRecognition = (knowledge: KnowledgeFixture, sourceId: string) =>
  waitFor(async () => {
    const { progress, statistics } = await knowledge.getSource(sourceId)
    return progress === null && statistics.recognizing === 0
  })

test('other documents come first, and another sync does not wait for images', async () => {
  const recognizer = new ScriptedRecognizer()
  const knowledge = await KnowledgeFixture.start({ recognizer })
  try {
    const source = await createSource(knowledge)
    await upload(knowledge, source.id, 'letter.png')
    await upload(knowledge, source.id, 'mixed.pdf')
    await knowledge.addDocument(source.id, 'a.md', 'Plain text.')
    await knowledge.startSync(source.id)
    await waitFor(async () => recognizer.pages > 0)
    assert.equal(await listStatuses(knowledge, source.id), { 'a.md': 'indexed', 'letter.png': 'recognizing', 'mixed.pdf': 'recognizing' })
    const { status, statistics, progress } = await knowledge.getSource(source.id)
    assert.equal([status, statistics.chunks, statistics.recognizing, progress.stage], ['active', 2, 2, 'recognizing'])
    await knowledge.addDocument(source.id, 'b.md', 'Added later.')
    await knowledge.startSync(source.id)
    await waitFor(async () => (await listStatuses(knowledge, source.id))['b.md'] === 'indexed')
    recognizer.release()
    await waitForRecognition(knowledge, source.id)
    assert.equal(new Set(Object.values(await listStatuses(knowledge, source.id))), new Set(['indexed']))
  } finally {
    await knowledge.close()
  }
})

test('an attached scan is recognised without being stored; a document in a source is not recognised again', async () => {
  const recognizer = new ScriptedRecognizer()
  recognizer.release()
  const knowledge = await KnowledgeFixture.start({ recognizer })
  try {
    const read = (name: string) => knowledge.service.post('/documents/text', { name, content_base64: readFixture(name).toString('base64') })
    assert.is((await expectData(read('letter.png'))).text, recognizer.text)
    assert.match((await expectData(read('mixed.pdf'))).text, recognizer.text)
    assert.is(recognizer.pages, 2)
    const source = await createSource(knowledge)
    await upload(knowledge, source.id, 'letter.png')
    await knowledge.startSync(source.id)
    await waitForRecognition(knowledge, source.id)
    await expectData(read('letter.png'))
    assert.is(recognizer.pages, 3)
  } finally {
    await knowledge.close()
  }
})

test('after a language was added, scans are recognised again only on request', async () => {
  const recognizer = new ScriptedRecognizer()
  recognizer.release()
  const knowledge = await KnowledgeFixture.start({ recognizer })
  try {
    const source = await createSource(knowledge)
    await upload(knowledge, source.id, 'letter.png')
    await knowledge.sync(source.id)
    const data = readFileSync(getRecognitionFiles().english).toString('base64')
    await expectData(knowledge.service.put('/recognition-languages/sco', { content_base64: data }))
    await knowledge.sync(source.id)
    assert.equal([recognizer.pages, recognizer.languages], [1, ['eng']])
    recognizer.text = 'The other ferry leaves at ten.'
    const recognizeAgain = async () => {
      await expectData(knowledge.service.post(`/knowledge-sources/${source.id}/sync?recognize_again=true`))
      await knowledge.waitForSync(source.id)
    }
    await recognizeAgain()
    assert.equal([recognizer.pages, recognizer.languages], [2, ['eng', 'sco']])
    await recognizeAgain()
    assert.is(recognizer.pages, 2)
    const read = { name: 'letter.png', content_base64: readFixture('letter.png').toString('base64') }
    assert.is((await expectData(knowledge.service.post('/documents/text', read))).text, recognizer.text)
    assert.equal(await listStatuses(knowledge, source.id), { 'letter.png': 'indexed' })
  } finally {
    await knowledge.close()
  }
})

test('a restart continues, and no page is recognised twice', async () => {
  const recognizer = new ScriptedRecognizer()
  let knowledge = await KnowledgeFixture.start({ recognizer })
  try {
    const source = await createSource(knowledge)
    await upload(knowledge, source.id, 'pages.tif')
    await knowledge.startSync(source.id)
    await waitFor(async () => recognizer.pages > 0)
    knowledge = await knowledge.restart(() => recognizer.release(), { recognizer })
    await waitForRecognition(knowledge, source.id)
    const recognized = recognizer.pages
    const copy = await createSource(knowledge)
    await upload(knowledge, copy.id, 'pages.tif')
    await knowledge.startSync(copy.id)
    await waitFor(async () => (await listStatuses(knowledge, copy.id))['pages.tif'] === 'indexed')
    assert.is(recognizer.pages, recognized)
  } finally {
    await knowledge.close()
  }
})

test('a source without recognition reads the text of PDF files and explains the rest; turning it on reads them', async () => {
  const recognizer = new ScriptedRecognizer()
  recognizer.release()
  const knowledge = await KnowledgeFixture.start({ recognizer })
  try {
    const source = await createSource(knowledge, { ocr: false, file_types: ['png', 'pdf'] })
    await upload(knowledge, source.id, 'letter.png')
    await upload(knowledge, source.id, 'mixed.pdf')
    await knowledge.sync(source.id)
    assert.equal(await listStatuses(knowledge, source.id), { 'mixed.pdf': 'indexed' })
    const skipped = await listStatuses(knowledge, source.id, '&status=skipped')
    assert.equal(skipped, { 'letter.png': 'skipped' })
    await expectData(knowledge.service.put(`/knowledge-sources/${source.id}`, { configuration: { file_types: ['png', 'pdf'] } }))
    await knowledge.startSync(source.id)
    await waitFor(async () => (await listStatuses(knowledge, source.id))['letter.png'] === 'indexed')
  } finally {
    await knowledge.close()
  }
})

test('images of an archive are recognised; one without text is skipped with that reason', async () => {
  const recognizer = new ScriptedRecognizer()
  recognizer.text = ''
  recognizer.release()
  const knowledge = await KnowledgeFixture.start({ recognizer })
  try {
    const source = await createSource(knowledge)
    const photos = Buffer.from(zip({ 'letter.png': readFixture('letter.png'), 'a.md': 'Plain text.' })).toString('base64')
    const body = { name: 'photos.zip', content_base64: photos, index: false }
    await expectData(knowledge.service.post(`/knowledge-sources/${source.id}/documents`, body), 201)
    await knowledge.sync(source.id)
    const list = () => expectData(knowledge.service.get(`/knowledge-sources/${source.id}/documents?status=skipped`))
    const [image] = await list()
    assert.equal([image.name, image.status, image.error], ['photos.zip/letter.png', 'skipped', 'No text was found in the image.'])
    assert.is((await knowledge.getSource(source.id)).statistics.skipped, 1)
    // The next sync neither reads nor recognises it again.
    await knowledge.sync(source.id)
    assert.equal(await list(), [image])
    assert.is(recognizer.pages, 1)
  } finally {
    await knowledge.close()
  }
})

test.run()
