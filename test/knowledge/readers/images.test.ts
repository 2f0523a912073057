import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { detectImageFormat, type ImageFormat, inspectImage } from '../../../daemon/knowledge/readers/inspect-image.ts'
import { readDocument } from '../../../daemon/knowledge/readers/read-document.ts'

const test = suite('images')

const readFixture = (name: string) => new Uint8Array(readFileSync(new URL(`../recognition/fixtures/${name}`, import.meta.url)))

async function getError(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('The document was read.')
}

test('the size and pages of an image are in its header', () => {
  const inspect = (name: string) => {
    const bytes = readFixture(name)
    const { format, width, height, pages } = inspectImage(bytes, detectImageFormat(bytes) as ImageFormat)
    return [format, width, height, pages]
  }
  assert.equal(inspect('letter.png'), ['PNG', 1000, 420, 1])
  assert.equal(inspect('letter.gif'), ['GIF', 1000, 420, 1])
  assert.equal(inspect('letter.webp'), ['WebP', 1000, 420, 1])
  assert.equal(inspect('photo.jpg'), ['JPEG', 800, 600, 1])
  assert.equal(inspect('pages.tif'), ['TIFF', 600, 252, 2])
})

test('images end with a reason: huge, tiny, truncated, cyclic', async () => {
  const huge = readFixture('letter.png')
  new DataView(huge.buffer).setUint32(16, 60_000)
  new DataView(huge.buffer).setUint32(20, 60_000)
  assert.match(await getError(readDocument(huge, 'a.png')), '60000 × 60000 pixels')
  const icon = readFixture('letter.gif')
  icon.set([16, 0, 16, 0], 6)
  assert.match((await readDocument(icon, 'a.gif')).skipReason ?? '', 'too small')
  for (const name of ['letter.png', 'letter.gif', 'letter.webp', 'photo.jpg', 'pages.tif'])
    assert.match(await getError(readDocument(readFixture(name).slice(0, name.endsWith('webp') ? 14 : 9), name)), /damaged/, name)
  // The directory of the second page refers to the first one.
  const cyclic = readFixture('pages.tif')
  const view = new DataView(cyclic.buffer)
  const first = view.getUint32(4, true)
  const second = view.getUint32(first + 2 + view.getUint16(first, true) * 12, true)
  view.setUint32(second + 2 + view.getUint16(second, true) * 12, first, true)
  assert.is(inspectImage(cyclic, 'TIFF').pages, 2)
})

test('an image waits for text recognition; its citations say so', async () => {
  const waiting = await readDocument(readFixture('pages.tif'), 'a.tif', {
    isEnabled: true,
    pages: [{ page: 1, text: 'One', confidence: 90 }],
  })
  assert.equal(waiting.scans, [2])
  const pages = [
    { page: 1, text: 'One', confidence: 90 },
    { page: 2, text: 'Two', confidence: 40 },
  ]
  const read = await readDocument(readFixture('pages.tif'), 'a.tif', { isEnabled: true, pages })
  assert.is(read.text, 'One\n\nTwo')
  assert.equal(read.pages, [
    { number: 1, start: 0 },
    { number: 2, start: 5 },
  ])
  assert.equal(read.places, { kind: 'page', recognized: [1, 2] })
  assert.is(read.notice, 'Text recognition is uncertain on page 2.')
})

test('a photo without text is not read', async () => {
  const pages = [{ page: 1, text: '', confidence: 0 }]
  const read = await readDocument(readFixture('photo.jpg'), 'a.jpg', { isEnabled: true, pages })
  assert.is(read.skipReason, 'No text was found in the image.')
  assert.match((await readDocument(readFixture('photo.jpg'), 'a.jpg')).skipReason ?? '', 'Text recognition is off')
})

test('a page of a PDF without text is recognised, the others are read', async () => {
  const waiting = await readDocument(readFixture('mixed.pdf'), 'a.pdf', { isEnabled: true, pages: [] })
  assert.match(waiting.text, 'garden gate')
  assert.equal(waiting.scans, [2])
  const pages = [{ page: 2, text: 'Code 4471', confidence: 95 }]
  const read = await readDocument(readFixture('mixed.pdf'), 'a.pdf', { isEnabled: true, pages })
  assert.match(read.text, /garden gate[\s\S]*Code 4471/)
  assert.is(read.scans, undefined)
  assert.equal(read.places, { kind: 'page', recognized: [2] })
})

test.run()
