import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDocument } from '../../../daemon/knowledge/recognition/decode-page.ts'
import type { GrayImage } from '../../../daemon/knowledge/recognition/gray-image.ts'
import { getRecognitionFiles } from '../../../daemon/knowledge/recognition/recognition-files.ts'
import { Tesseract } from '../../../daemon/knowledge/recognition/tesseract.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('decoded pages')
const FILES = getRecognitionFiles()
let tesseract: Tesseract

test.before(
  reportFailure(async () => {
    tesseract = await Tesseract.load(FILES.tesseract, [{ language: 'eng', file: FILES.english }])
  }),
)

const readFixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url))
const decode = async (bytes: Uint8Array): Promise<GrayImage> => (await openDocument(bytes, tesseract, FILES.pdfium)).decode(1)

/** The mean difference of two images, from 0 to 255. */
function compareImages(one: GrayImage, other: GrayImage): number {
  assert.equal([one.width, one.height], [other.width, other.height])
  return one.pixels.reduce((sum, gray, index) => sum + Math.abs(gray - (other.pixels[index] as number)), 0) / one.pixels.length
}

test('PNG, GIF and WebP files of the same letter are the same image, and a JPEG file is decoded', async () => {
  const letter = await decode(readFixture('letter.png'))
  assert.equal([letter.width, letter.height], [1000, 420])
  assert.ok(letter.pixels.some((gray) => gray < 64) && letter.pixels.some((gray) => gray > 192))
  for (const name of ['letter.gif', 'letter.webp']) assert.ok(compareImages(await decode(readFixture(name)), letter) < 5, name)
  const photo = await decode(readFixture('photo.jpg'))
  assert.equal([photo.width, photo.height, new Set(photo.pixels).size > 100], [800, 600, true])
})

test('of an animated GIF the first frame is read', async () => {
  const letter = readFixture('letter.gif')
  const frame = Buffer.from('2c00000000e803e803000202440100', 'hex')
  const animated = Buffer.concat([letter.subarray(0, -1), ...Array.from({ length: 1_000 }, () => frame), Buffer.from(';')])
  assert.is(compareImages(await decode(animated), await decode(letter)), 0)
})

test('a TIFF file whose directories refer to themselves is decoded', async () => {
  const cyclic = readFixture('pages.tif')
  const directory = cyclic.readUInt32LE(4)
  const entries = Array.from({ length: cyclic.readUInt16LE(directory) }, (_, index) => directory + 2 + index * 12)
  // The number of the page becomes a directory within it.
  const number = entries.find((entry) => cyclic.readUInt16LE(entry) === 297) as number
  cyclic.writeUInt16LE(330, number)
  cyclic.writeUInt16LE(4, number + 2)
  cyclic.writeUInt32LE(1, number + 4)
  cyclic.writeUInt32LE(directory, number + 8)
  assert.is(compareImages(await decode(cyclic), await decode(readFixture('pages.tif'))), 0)
})

test.run()
