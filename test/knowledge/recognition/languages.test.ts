import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getRecognitionFiles } from '../../../daemon/knowledge/recognition/recognition-files.ts'
import { RecognitionPool } from '../../../daemon/knowledge/recognition/recognition-pool.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { TestServer } from '../../harness/test-server.ts'

const test = suite('languages of text recognition')
const ENGLISH = readFileSync(getRecognitionFiles().english)
const body = (bytes: Uint8Array) => ({ content_base64: Buffer.from(bytes).toString('base64') })
const listCodes = async (server: TestServer): Promise<string[]> =>
  (await expectData(server.get('/recognition-languages'))).languages.map(({ language }: { language: string }) => language)

test('a language is added as a plain or compressed file, listed after English, kept after a restart, and removed', async () => {
  let server = await TestServer.start()
  try {
    const added = await expectData(server.put('/recognition-languages/sco', body(ENGLISH)))
    assert.equal([added.language, added.built_in], ['sco', false])
    await expectData(server.put('/recognition-languages/enm', body(gunzipSync(ENGLISH))))
    server = await TestServer.start({ home: await server.stop() })
    assert.equal(await listCodes(server), ['eng', 'enm', 'sco'])
    assert.match((await server.delete('/recognition-languages/sco')).body.message, 'removed')
    await expectError(server.delete('/recognition-languages/sco'), 'NOT_FOUND')
    assert.equal(await listCodes(server), ['eng', 'enm'])
  } finally {
    await server.close()
  }
})

test('data that cannot be used is rejected, and so are invalid codes and English', async () => {
  const server = await TestServer.start()
  try {
    const reject = (bytes: Uint8Array, language = 'deu') =>
      expectError(server.put(`/recognition-languages/${language}`, body(bytes)), 'VALIDATION_ERROR')
    const data = gunzipSync(ENGLISH)
    await reject(Buffer.from('not data'))
    await reject(ENGLISH.subarray(0, 5_000))
    await reject(data.subarray(0, 400))
    await reject(Buffer.concat([data.subarray(0, 1_000), Buffer.alloc(data.length - 1_000, 7)]))
    await reject(ENGLISH, '..%2Fdeu')
    await expectError(server.put('/recognition-languages/eng', body(ENGLISH)), 'CONFLICT')
    await expectError(server.delete('/recognition-languages/eng'), 'CONFLICT')
    assert.equal(await listCodes(server), ['eng'])
  } finally {
    await server.close()
  }
})

test('languages are used together', async () => {
  const pool = new RecognitionPool({ debug() {}, warn() {} })
  try {
    const { english } = getRecognitionFiles()
    const texts: string[] = []
    const task = {
      content: readFileSync(new URL('fixtures/letter.png', import.meta.url)),
      pages: [1],
      languages: ['eng', 'sco'].map((language) => ({ language, file: english })),
    }
    const signal = new AbortController().signal
    await pool.recognize(task, async ({ text }) => void texts.push(text), { signal, urgency: 'awaited' })
    assert.match(texts[0] ?? '', 'Harbour View')
  } finally {
    await pool.close()
  }
})

test.run()
