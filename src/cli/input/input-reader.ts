/** What the user hands over: files, stdin and secrets, each flag saying where its value is. */
import { createReadStream } from 'node:fs'
import { extname } from 'node:path'
import { namedVariable } from '../../config.ts'
import { MAX_DOCUMENT_BODY_BYTES } from '../../contract/families/documents.ts'
import { UsageError } from '../terminal/errors.ts'
import { createReadError } from './file-errors.ts'

export type Body = Record<string, unknown>

/** What a file holds. */
export interface ResourceInput {
  isList: boolean
  bodies: Body[]
  /** Fields of a new resource that neither the file nor a flag names. */
  defaults?: Body
  /** Where in the file stands what was refused, if that can be told. */
  locateError?: (refusal: unknown) => string | undefined
}

/** Reads what flags point to. Stdin can be read only once, so one reader serves one command. */
export class InputReader {
  #stdinReader: string | undefined

  /** A value as given, of a file (`@path`), or of stdin (`-`). `@@` is a text that begins with @. */
  async readValue(value: string, flag: string): Promise<string> {
    if (value === '-') return decodeText(await this.readStdin(`--${flag}`))
    if (value.startsWith('@@')) return value.slice(1)
    return value.startsWith('@') ? readTextFile(value.slice(1), `For a text that begins with @, write --${flag} @${value}`) : value
  }

  /** The text of a file, or of stdin (`-`). */
  async readFile(file: string, flag = '--file'): Promise<string> {
    return file === '-' ? decodeText(await this.readStdin(flag)) : readTextFile(file)
  }

  /** A secret: from stdin it is one line, at a terminal it is typed unseen, and env:NAME is a variable of the environment. */
  async readSecret(value: string, flag: string): Promise<string> {
    const [, variable] = /^env:(\w+)$/.exec(value) ?? []
    if (variable !== undefined) return readVariable(variable, flag)
    if (value === '-' && process.stdin.isTTY) return typeUnseen(`--${flag}: `)
    const text = await this.readValue(value, flag)
    return text === value ? value : text.replace(/\r?\n$/, '')
  }

  /** A JSON or YAML value: written out, of a file, or of stdin. */
  async readStructure(value: string, flag: string): Promise<unknown> {
    const text = await this.readValue(value, flag)
    const named = value.startsWith('@') && !value.startsWith('@@') ? value.slice(1) : undefined
    return text === value ? parseJson(text, `--${flag}`) : parseStructure(text, named ?? '')
  }

  /** The resources in a file, or on stdin (`-`). */
  async readResources(file: string): Promise<ResourceInput> {
    return resourcesIn(await this.readFile(file), file)
  }

  /** Everything on stdin. */
  async readStdin(flag: string, most = MAX_INPUT_BYTES, tooLarge = () => createTooLargeError('Stdin')): Promise<Buffer> {
    if (this.#stdinReader !== undefined)
      throw new UsageError(`${flag} - and ${this.#stdinReader} - both want stdin, which can be read only once.`)
    this.#stdinReader = flag
    return readStream(process.stdin, most, tooLarge)
  }
}

function readVariable(name: string, flag: string): string {
  const value = namedVariable(name)
  if (value === undefined) throw new UsageError(`--${flag} env:${name}: the environment has no ${name}.`)
  return value
}

/** Nothing larger can be sent, so nothing larger is read: a device has no end. */
const MAX_INPUT_BYTES = MAX_DOCUMENT_BODY_BYTES

export async function readStream(source: AsyncIterable<Buffer>, most: number, tooLarge: () => UsageError): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of source) {
    size += piece.length
    if (size > most) throw tooLarge()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const createTooLargeError = (what: string) =>
  new UsageError(`${what} holds more than ${MAX_INPUT_BYTES / 1024 ** 2} MB, which is more than can be sent.`)

/** Without the mark that editors of Windows put before a text, and that no parser expects. */
const decodeText = (bytes: Buffer): string => bytes.toString('utf8').replace(/^\uFEFF/, '')

/** The hint is for those who may not have meant a file. */
export async function readTextFile(file: string, hint?: string): Promise<string> {
  try {
    return decodeText(await readStream(createReadStream(file), MAX_INPUT_BYTES, () => createTooLargeError(file)))
  } catch (error) {
    if (error instanceof UsageError) throw error
    const trouble = createReadError(file, error)
    throw new UsageError(trouble.message, [trouble.hint, hint].filter(Boolean).join(' ') || undefined)
  }
}

const JSON_FLAG_HINT = 'Quote it for the shell, or put it in a file and write @file.'

export function parseJson(text: string, where: string, hint = where.startsWith('--') ? JSON_FLAG_HINT : undefined): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${where} is not JSON: ${(error as Error).message}`, hint)
  }
}

/** The resources in a text of JSON or YAML: one, a list of them, or several documents. */
export async function resourcesIn(text: string, file: string): Promise<ResourceInput> {
  const place = file === '-' ? 'Stdin' : file
  const value = await parseStructure(text, place)
  const bodies = Array.isArray(value) ? value : [value]
  for (const body of bodies)
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new UsageError(`${place} must hold an object, or a list of objects.`)
  return { isList: Array.isArray(value), bodies: bodies as Body[] }
}

/** YAML holds JSON, but JSON gives better messages; several YAML documents are a list. */
async function parseStructure(text: string, file: string): Promise<unknown> {
  if (extname(file) === '.json' || (extname(file) === '' && /^\s*[[{]/.test(text))) return parseJson(text, file || 'The text')
  const { parseAllDocuments } = await import('../terminal/yaml.ts')
  const documents = [parseAllDocuments(text, { merge: true })].flat()
  for (const document of documents) {
    const [problem] = document.errors
    if (problem) throw new UsageError(`${file || 'The text'} is not YAML: ${problem.message}`)
  }
  const values = documents.map((document) => toPlainValue(document, file))
  return values.length === 1 ? values[0] : values.flat()
}

/** An alias inside of what it stands for has no end, and a few aliases of aliases are billions of values. */
function toPlainValue(document: { toJS: () => unknown }, file: string): unknown {
  try {
    const value = document.toJS()
    JSON.stringify(value)
    return value
  } catch (error) {
    throw new UsageError(
      `${file || 'The text'} cannot be read: its aliases (*name) lead back to themselves, or to too many values.`,
      `Write out what they stand for. ${(error as Error).message.split('\n')[0]}`,
    )
  }
}

export async function typeUnseen(prompt: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const { Writable } = await import('node:stream')
  const silent = new Writable({ write: (_piece, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  // Asked only now that the terminal no longer echoes.
  process.stderr.write(prompt)
  lines.on('SIGINT', () => process.emit('SIGINT'))
  try {
    return await lines.question('')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
