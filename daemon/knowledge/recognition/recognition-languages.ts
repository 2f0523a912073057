/** The languages of text recognition: English, and those whose data was added to the home. */
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Static } from 'typebox'
import { CadreError, createNotFoundError } from '../../../src/contract/errors.ts'
import type { LanguageData, RecognitionLanguage } from '../../../src/contract/families/recognition/recognition-languages.ts'
import { decodeContent } from '../decode-content.ts'
import { getRecognitionFiles } from './recognition-files.ts'
import type { PageRecognizer } from './recognition-pool.ts'
import { ENGLISH, type LanguageFile } from './recognized-page.ts'

const EXTENSION = '.traineddata.gz'
/** Each language makes recognition slower. */
const MAX_LANGUAGES = 8
/** The largest data of Tesseract has 40 MB. */
const MAX_DATA_BYTES = 128 * 1024 * 1024
/** Position of the neural network among the parts of the data; older data has none. */
const NETWORK_PART = 17
const MAX_PARTS = 64

export class RecognitionLanguages {
  readonly #folder: string
  readonly #recognizer: PageRecognizer

  constructor(folder: string, recognizer: PageRecognizer) {
    this.#folder = folder
    this.#recognizer = recognizer
  }

  /** Lists the files of all languages, English first. */
  async listFiles(): Promise<LanguageFile[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    const added = names.filter((name) => name.endsWith(EXTENSION)).map((name) => name.slice(0, -EXTENSION.length))
    return [
      { language: ENGLISH, file: getRecognitionFiles().english },
      ...added.sort().map((language) => ({ language, file: this.#getPath(language) })),
    ]
  }

  async list(): Promise<Static<typeof RecognitionLanguage>[]> {
    const files = await this.listFiles()
    return Promise.all(files.map(({ language, file }) => describeLanguage(language, file)))
  }

  async add(language: string, { content_base64 }: Static<typeof LanguageData>, signal: AbortSignal): Promise<RecognitionLanguage> {
    if (language === ENGLISH) throw new CadreError('CONFLICT', 'English is part of Cadre.')
    const others = (await this.listFiles()).filter((file) => file.language !== language)
    if (others.length >= MAX_LANGUAGES)
      throw new CadreError('CONFLICT', `There are ${others.length} languages, which is the maximum.`, { hint: 'Remove one first.' })
    const data = decodeData(decodeContent({ content_base64 }))
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const draft = `${this.#getPath(language)}.${process.pid}.new`
    try {
      await writeFile(draft, gzipSync(data), { mode: 0o600, flush: true })
      await this.#recognizer.verify([{ language, file: draft }], signal).catch((error: unknown) => {
        signal.throwIfAborted()
        throw createDataError((error as Error).message)
      })
      await rename(draft, this.#getPath(language))
    } finally {
      await rm(draft, { force: true })
    }
    return describeLanguage(language, this.#getPath(language))
  }

  async remove(language: string): Promise<string> {
    if (language === ENGLISH) throw new CadreError('CONFLICT', 'English is part of Cadre and cannot be removed.')
    await rm(this.#getPath(language)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? createNotFoundError('language', language) : error
    })
    return `The language ${language} was removed. Recognised text stays as it is.`
  }

  #getPath(language: string): string {
    return join(this.#folder, `${language}${EXTENSION}`)
  }
}

const describeLanguage = async (language: string, file: string): Promise<RecognitionLanguage> => ({
  language,
  size: (await stat(file)).size,
  built_in: language === ENGLISH,
})

/** Data starts with the number of its parts and their offsets; -1 if a part is missing. */
function decodeData(bytes: Uint8Array): Uint8Array {
  const data = Buffer.from(decompress(bytes))
  const parts = data.length >= 4 ? data.readUInt32LE(0) : 0
  const isComplete = parts > NETWORK_PART && parts <= MAX_PARTS && data.length > 4 + parts * 8
  if (!isComplete) throw createDataError('it is something else')
  const offset = Number(data.readBigInt64LE(4 + NETWORK_PART * 8))
  if (offset < 0 || offset >= data.length) throw createDataError('it has no neural network, or is truncated')
  return data
}

function decompress(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_DATA_BYTES })
  } catch (error) {
    throw createDataError((error as Error).message)
  }
}

const createDataError = (problem: string) =>
  new CadreError('VALIDATION_ERROR', `This is not language data of Tesseract 4 or later: ${problem}.`)
