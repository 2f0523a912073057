/** Tesseract as WebAssembly: decodes images and recognises text. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import createCore from 'tesseract.js-core/tesseract-core-simd-lstm.js'
import { type GrayImage, rotateImage } from './gray-image.ts'
import { parseWords, type RecognizedText } from './parse-words.ts'
import { joinLanguages, type LanguageFile } from './recognized-page.ts'

const LSTM_ENGINE = 1
/** Tesseract straightens lines itself if the page is turned by less (radians). */
const MIN_SKEW = 0.02
const MAX_SKEW = 0.5
/** Fields of Leptonica's Pix, in words of 32 bits. */
const PIX = { width: 0, height: 1, depth: 2, wordsPerLine: 4, colormap: 11, data: 12, size: 13 }
const RESOLUTION = 200

export class Tesseract {
  readonly #core: TesseractCore
  readonly #memory: WebAssembly.Memory
  readonly #api: TesseractApi

  private constructor(core: TesseractCore, memory: WebAssembly.Memory, api: TesseractApi) {
    this.#core = core
    this.#memory = memory
    this.#api = api
  }

  static async load(wasmFile: string, languages: readonly LanguageFile[]): Promise<Tesseract> {
    const wasm = new WebAssembly.Module(readFileSync(wasmFile))
    let memory: WebAssembly.Memory | undefined
    const core = await createCore({
      // Its messages about damaged images are of no use to users.
      print: () => {},
      printErr: () => {},
      instantiateWasm(imports, onInstance) {
        const instance = new WebAssembly.Instance(wasm, imports)
        memory = Object.values(instance.exports).find((value) => value instanceof WebAssembly.Memory)
        onInstance(instance)
        return instance.exports
      },
    })
    if (!memory) throw new Error('The WebAssembly module of Tesseract has no memory.')
    for (const { language, file } of languages) {
      const data = readFileSync(file)
      core.FS.writeFile(`/${language}.traineddata`, data.readUInt16BE(0) === 0x1f8b ? gunzipSync(data) : data)
    }
    const api = new core.TessBaseAPI()
    if (api.Init('/', joinLanguages(languages), LSTM_ENGINE) !== 0)
      throw new Error(`Tesseract cannot load the data of ${languages.map(({ language }) => language).join(', ')}.`)
    return new Tesseract(core, memory, api)
  }

  /** Decodes a PNG, JPEG, GIF or WebP image. Returns undefined if it is damaged. With SetImageFile there would be three copies of it. */
  decode(bytes: Uint8Array): GrayImage | undefined {
    const pix = this.#withBytes(bytes, (address) => this.#core._pixReadMem(address, bytes.length))
    if (pix === 0) return undefined
    try {
      return this.#copyPixels(pix)
    } finally {
      this.#withBytes(new Uint8Array(Uint32Array.of(pix).buffer), (address) => this.#core._pixDestroy(address))
    }
  }

  recognize(image: GrayImage): RecognizedText {
    this.#setImage(image)
    return this.#recognize()
  }

  /** Recognises an image whose lines may not be horizontal. */
  recognizeSkewed(image: GrayImage): RecognizedText {
    this.#setImage(image)
    this.#api.FindLines()
    const angle = this.#api.GetGradient()
    if (Math.abs(angle) > MIN_SKEW && Math.abs(angle) < MAX_SKEW) this.#setImage(rotateImage(image, angle))
    return this.#recognize()
  }

  #recognize(): RecognizedText {
    if (this.#api.Recognize(null) !== 0) throw new Error('Tesseract cannot recognise the page.')
    const words = parseWords(this.#api.GetTSVText(0))
    this.#api.Clear()
    return words
  }

  #setImage({ width, height, pixels }: GrayImage): void {
    this.#withBytes(pixels, (address) => {
      this.#api.SetImage(address, width, height, 1, width)
      this.#api.SetSourceResolution(RESOLUTION)
    })
  }

  /** Runs work with the address of a copy of the bytes. */
  #withBytes<T>(bytes: Uint8Array, work: (address: number) => T): T {
    const address = this.#core._malloc(bytes.length)
    if (address === 0) throw new Error('The image needs too much memory.')
    try {
      new Uint8Array(this.#memory.buffer).set(bytes, address)
      return work(address)
    } finally {
      this.#core._free(address)
    }
  }

  #copyPixels(pix: number): GrayImage | undefined {
    const fields = new Uint32Array(this.#memory.buffer, pix, PIX.size)
    const [width, height, depth] = [fields[PIX.width] as number, fields[PIX.height] as number, fields[PIX.depth] as number]
    const wordsPerLine = fields[PIX.wordsPerLine] as number
    if (width === 0 || height === 0) return undefined
    const words = new Uint32Array(this.#memory.buffer, fields[PIX.data] as number, wordsPerLine * height)
    const pixels = new Uint8Array(width * height)
    const readPixel = createPixelReader(depth, this.#readGrayLevels(fields[PIX.colormap] as number, depth))
    for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) pixels[y * width + x] = readPixel(words, y * wordsPerLine, x)
    return { width, height, pixels }
  }

  /** Returns the gray of each color of a palette; without one, of each value. */
  #readGrayLevels(colormap: number, depth: number): Uint8Array {
    if (depth > 8) return new Uint8Array()
    const values = 2 ** depth
    // A pixel of one bit is black if it is set.
    if (colormap === 0)
      return Uint8Array.from({ length: values }, (_, value) => (depth === 1 ? (1 - value) * 255 : (value * 255) / (values - 1)))
    const [colors = 0, , , count = 0] = new Uint32Array(this.#memory.buffer, colormap, 4)
    const bytes = new Uint8Array(this.#memory.buffer, colors, count * 4)
    // Blue, green, red and alpha.
    return Uint8Array.from({ length: values }, (_, index) =>
      computeGray(bytes[index * 4 + 2] ?? 255, bytes[index * 4 + 1] ?? 255, bytes[index * 4] ?? 255),
    )
  }
}

export const computeGray = (red: number, green: number, blue: number): number => (red * 77 + green * 150 + blue * 29) >> 8

/** Pixels are packed into words of 32 bits, the first one in the highest bits. */
function createPixelReader(depth: number, levels: Uint8Array): (words: Uint32Array, line: number, x: number) => number {
  if (depth === 32) {
    return (words, line, x) => {
      const word = words[line + x] as number
      return computeGray(word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255)
    }
  }
  if (depth === 16) return (words, line, x) => ((words[line + (x >> 1)] as number) >>> (24 - 16 * (x & 1))) & 255
  const perWord = 32 / depth
  const mask = 2 ** depth - 1
  return (words, line, x) =>
    levels[((words[line + Math.floor(x / perWord)] as number) >>> (32 - depth * ((x % perWord) + 1))) & mask] as number
}
