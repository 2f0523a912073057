import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { orientImage } from '../../../daemon/knowledge/recognition/gray-image.ts'

const test = suite('gray images')

/** Numbers the corners of an image from the top left, clockwise, as a camera stores it. */
const STORED: Record<number, number[]> = {
  1: [1, 2, 4, 3],
  2: [2, 1, 3, 4],
  3: [3, 4, 2, 1],
  4: [4, 3, 1, 2],
  5: [1, 4, 2, 3],
  6: [2, 3, 1, 4],
  7: [3, 2, 4, 1],
  8: [4, 1, 3, 2],
}

for (const [orientation, pixels] of Object.entries(STORED))
  test(`an image with the EXIF orientation ${orientation} is turned upright`, () => {
    const image = { width: 2, height: 2, pixels: Uint8Array.from(pixels) }
    assert.equal([...orientImage(image, Number(orientation)).pixels], [1, 2, 4, 3])
    assert.equal([...image.pixels], pixels)
  })

test.run()
