import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeTiff } from '../../../daemon/knowledge/recognition/decode-tiff.ts'

const test = suite('TIFF pages')

/** Two rows of two pixels: black, white, white, black. */
const PIXELS = [0, 255, 255, 0]

/** Returns an uncompressed page with gray pixels and their transparency. */
function createGrayPage(bits: 8 | 16, isWhiteZero: boolean): Uint8Array {
  const samples = PIXELS.flatMap((gray) => [isWhiteZero ? 255 - gray : gray, 255])
  const data = Buffer.from(bits === 8 ? samples : samples.flatMap((sample) => [sample, sample]))
  const entries = [
    [256, 2],
    [257, 2],
    [258, bits],
    [259, 1],
    [262, isWhiteZero ? 0 : 1],
    [273, 0],
    [277, 2],
    [278, 2],
    [279, data.length],
    [338, 2],
  ] as const
  const directory = Buffer.alloc(2 + entries.length * 12 + 4)
  const start = 8 + directory.length
  directory.writeUInt16LE(entries.length)
  for (const [index, [tag, value]] of entries.entries()) {
    const at = 2 + index * 12
    directory.writeUInt16LE(tag, at)
    directory.writeUInt16LE(4, at + 2)
    directory.writeUInt32LE(1, at + 4)
    directory.writeUInt32LE(tag === 273 ? start : value, at + 8)
  }
  return Buffer.concat([Buffer.from('49492a0008000000', 'hex'), directory, data])
}

test('gray pixels with transparency, as ImageMagick writes them, are decoded', () => {
  for (const bits of [8, 16] as const)
    for (const isWhiteZero of [false, true])
      assert.equal([...(decodeTiff(createGrayPage(bits, isWhiteZero), 1)?.pixels ?? [])], PIXELS, `${bits} bits, ${isWhiteZero}`)
})

test.run()
