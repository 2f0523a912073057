/** Operations on images of one byte per pixel: 0 is black. */

export interface GrayImage {
  width: number
  height: number
  pixels: Uint8Array
}

/** Tesseract's coordinates have 16 bits. */
export const MAX_SIDE = 20_000

/** Scales an image down to the number of pixels; each pixel is the mean of those it covers. Smaller images are returned as they are. */
export function shrinkImage(image: GrayImage, maxPixels: number): GrayImage {
  const factor = Math.max(Math.sqrt((image.width * image.height) / maxPixels), Math.max(image.width, image.height) / MAX_SIDE)
  if (factor <= 1) return image
  const width = Math.max(1, Math.round(image.width / factor))
  const height = Math.max(1, Math.round(image.height / factor))
  const columns = computeBounds(image.width, width)
  const rows = computeBounds(image.height, height)
  const pixels = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    const [top, bottom] = [rows[y] as number, Math.max(rows[y + 1] as number, (rows[y] as number) + 1)]
    for (let x = 0; x < width; x++) {
      const [left, right] = [columns[x] as number, Math.max(columns[x + 1] as number, (columns[x] as number) + 1)]
      let sum = 0
      for (let row = top; row < bottom; row++)
        for (let column = left; column < right; column++) sum += image.pixels[row * image.width + column] as number
      pixels[y * width + x] = sum / ((bottom - top) * (right - left))
    }
  }
  return { width, height, pixels }
}

const computeBounds = (from: number, to: number) => Uint32Array.from({ length: to + 1 }, (_, index) => Math.floor((index * from) / to))

/** Turns an image as it was seen: EXIF counts the ways in which a camera can be held, and mirror images. */
export function orientImage(image: GrayImage, orientation: number): GrayImage {
  const quarters = [0, 0, 2, 2, 3, 1, 1, 3][orientation - 1] ?? 0
  return turnImage([2, 4, 5, 7].includes(orientation) ? mirrorImage(image) : image, quarters)
}

/** Exchanges left and right. */
function mirrorImage({ width, height, pixels }: GrayImage): GrayImage {
  const mirrored = new Uint8Array(pixels.length)
  for (let y = 0; y < height; y++) mirrored.set(pixels.slice(y * width, (y + 1) * width).reverse(), y * width)
  return { width, height, pixels: mirrored }
}

/** Turns an image clockwise by a number of quarters. */
export function turnImage(image: GrayImage, quarters: number): GrayImage {
  if (quarters === 0) return image
  const isUpright = quarters === 2
  const [width, height] = isUpright ? [image.width, image.height] : [image.height, image.width]
  const pixels = new Uint8Array(width * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const column = quarters === 1 ? y : quarters === 2 ? width - 1 - x : image.width - 1 - y
      const row = quarters === 1 ? image.height - 1 - x : quarters === 2 ? height - 1 - y : x
      pixels[y * width + x] = image.pixels[row * image.width + column] as number
    }
  return { width, height, pixels }
}

/** Rotates an image around its center by a small angle (radians, clockwise). Corners that come into view are white. */
export function rotateImage({ width, height, pixels }: GrayImage, angle: number): GrayImage {
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)]
  const rotated = new Uint8Array(width * height).fill(255)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [fromX, fromY] = [x - width / 2, y - height / 2]
      const column = fromX * cosine + fromY * sine + width / 2
      const row = fromY * cosine - fromX * sine + height / 2
      const [left, top] = [Math.floor(column), Math.floor(row)]
      if (left < 0 || top < 0 || left + 1 >= width || top + 1 >= height) continue
      const [shareX, shareY] = [column - left, row - top]
      const at = top * width + left
      const upper = (pixels[at] as number) * (1 - shareX) + (pixels[at + 1] as number) * shareX
      const lower = (pixels[at + width] as number) * (1 - shareX) + (pixels[at + width + 1] as number) * shareX
      rotated[y * width + x] = upper * (1 - shareY) + lower * shareY
    }
  return { width, height, pixels: rotated }
}

/** The share of pixels that have about the most common light gray: large for paper and screens, small for photos. */
export function measureBackground({ pixels }: GrayImage): number {
  const counts = new Uint32Array(16)
  for (const pixel of pixels) counts[pixel >> 4] = (counts[pixel >> 4] as number) + 1
  let most = 0
  for (let index = 8; index < 15; index++) most = Math.max(most, (counts[index] as number) + (counts[index + 1] as number))
  return most / pixels.length
}
