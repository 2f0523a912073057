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

for (const name of ['letter.png', 'letter.gif', 'letter.webp', 'photo.jpg'])
  test(`${name} is decoded`, async () => {
    const [page] = await recognize(readFixture(name))
    assert.is(page?.problem, undefined)
  })

test('a damaged image and a damaged PDF end with a reason', async () => {
  const image = readFixture('letter.webp')
  const [page] = await recognize(image.subarray(0, image.length / 2))
  assert.match(page?.problem ?? '', 'damaged')
  const [other] = await recognize(Buffer.from('%PDF-1.4\nnothing'))
  assert.match(other?.problem ?? '', 'damaged')
})

test('of an animated GIF the first frame is read, and a TIFF whose directories refer to themselves ends', async () => {
  const letter = readFixture('letter.gif')
  const frame = Buffer.from('2c00000000e803e803000202440100', 'hex')
  const [first] = await recognize(Buffer.concat([letter.subarray(0, -1), ...Array.from({ length: 1_000 }, () => frame), Buffer.from(';')]))
  assert.match(first?.text ?? '', 'Harbour View')
  const cyclic = readFixture('pages.tif')
  const directory = cyclic.readUInt32LE(4)
  const entries = Array.from({ length: cyclic.readUInt16LE(directory) }, (_, index) => directory + 2 + index * 12)
  // The number of the page becomes a directory within it.
  const number = entries.find((entry) => cyclic.readUInt16LE(entry) === 297) as number
  cyclic.writeUInt16LE(330, number)
  cyclic.writeUInt16LE(4, number + 2)
  cyclic.writeUInt32LE(1, number + 4)
  cyclic.writeUInt32LE(directory, number + 8)
  const [page] = await recognize(cyclic)
  assert.match(page?.text ?? '', 'Harbour View')
})

test.run()
