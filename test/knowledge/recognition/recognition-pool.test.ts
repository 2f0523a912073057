import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getRecognitionFiles } from '../../../daemon/knowledge/recognition/recognition-files.ts'
import { RecognitionPool } from '../../../daemon/knowledge/recognition/recognition-pool.ts'
import type { RecognizedPage } from '../../../daemon/knowledge/recognition/recognized-page.ts'

const test = suite('recognition pool')
const pool = new RecognitionPool({ debug() {}, warn() {} })
test.after(() => pool.close())

const readFixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url))

async function recognize(bytes: Uint8Array, pages: readonly number[] = [1]): Promise<RecognizedPage[]> {
  const results: RecognizedPage[] = []
  const task = { content: bytes, pages, languages: [{ language: 'eng', file: getRecognitionFiles().english }] }
  await pool.recognize(task, async (page) => void results.push(page), { signal: new AbortController().signal, urgency: 'awaited' })
  return results
}

test('the text of a sideways page is recognised', async () => {
  const [page] = await recognize(readFixture('sideways.png'))
  assert.match(page?.text ?? '', 'The bicycle store opens with the code 4471.')
  assert.ok((page?.confidence ?? 0) > 85)
})

test('the text of a skewed page with noise is recognised', async () => {
  const [page] = await recognize(readFixture('skewed.jpg'))
  assert.match(page?.text ?? '', 'The monthly rent of flat 7B is 1,250 pounds.')
})

test('pages of a PDF and of a TIFF file are recognised one by one', async () => {
  const scan = await recognize(readFixture('mixed.pdf'), [2])
  assert.equal(
    scan.map(({ page, text }) => [page, text.includes('0117 496 0182')]),
    [[2, true]],
  )
  const [first] = await recognize(readFixture('pages.tif'))
  assert.match(first?.text ?? '', 'Harbour View Apartments')
})

test('a damaged image and a damaged PDF end with a reason', async () => {
  const image = readFixture('letter.webp')
  const [page] = await recognize(image.subarray(0, image.length / 2))
  assert.match(page?.problem ?? '', 'damaged')
  const [other] = await recognize(Buffer.from('%PDF-1.4\nnothing'))
  assert.match(other?.problem ?? '', 'damaged')
})

test.run()
