/** Reads input of commands: files, stdin, secrets and environment variables. */
import { createReadStream } from 'node:fs'
import { extname } from 'node:path'
import { readEnvironmentVariable } from '../../config.ts'
import { MAX_DOCUMENT_BODY_BYTES } from '../../contract/families/documents.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { createReadError } from './file-errors.ts'

export type Body = Record<string, unknown>

/** Lists are not objects. */
export const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Resources read from a file. */
export interface ResourceInput {
  isList: boolean
  bodies: Body[]
  /** Defaults of a new resource. */
  defaults?: Body
  /** Finds the place in the file that caused an error of the service. */
  locateError?: (refusal: unknown) => string | undefined
}

/** Shows in the help what `readSecret` accepts. */
export const SECRET_VALUE = '<secret|@file|env:NAME|->'

/** One instance per command, since stdin can be read only once. */
export class InputReader {
  #stdinReader: string | undefined

  /** `@path` reads a file, `-` stdin; `@@` escapes a leading @. */
  async readValue(value: string, flag: string): Promise<string> {
    if (value === '-') return decodeText(await this.readStdin(`--${flag}`))
    if (value.startsWith('@@')) return value.slice(1)
    return value.startsWith('@') ? readTextFile(value.slice(1), `If the text starts with @, write: --${flag} @${value}`) : value
  }

  /** `-` reads stdin. */
  async readFile(file: string, flag = '--file'): Promise<string> {
    return file === '-' ? decodeText(await this.readStdin(flag)) : readTextFile(file)
  }

  /** `env:NAME` reads a variable, `-` one line of stdin or a hidden prompt. */
  async readSecret(value: string, flag: string): Promise<string> {
    const [, variable] = /^env:(\w+)$/.exec(value) ?? []
    if (variable !== undefined) return readVariable(variable, flag)
    if (value === '-' && process.stdin.isTTY) return promptSecret(`--${flag}: `)
    const text = await this.readValue(value, flag)
    return text === value ? value : text.replace(/\r?\n$/, '')
  }

  /** A JSON or YAML value, inline or from a file or stdin. */
  async readStructure(value: string, flag: string): Promise<unknown> {
    const text = await this.readValue(value, flag)
    const file = value.startsWith('@') && !value.startsWith('@@') ? value.slice(1) : undefined
    return text === value ? parseJson(text, `--${flag}`) : parseStructure(text, file ?? '')
  }

  /** `-` reads stdin. */
  async readResources(file: string): Promise<ResourceInput> {
    return parseResources(await this.readFile(file), file)
  }

  async readStdin(flag: string, most = MAX_INPUT_BYTES, tooLarge = () => createTooLargeError('Stdin')): Promise<Buffer> {
    if (this.#stdinReader !== undefined)
      throw new UsageError(`${flag} - and ${this.#stdinReader} - both read stdin, which can be read only once.`)
    this.#stdinReader = flag
    return readStream(process.stdin, most, tooLarge)
  }
}

function readVariable(name: string, flag: string): string {
  const value = readEnvironmentVariable(name)
  if (value === undefined) throw new UsageError(`--${flag} env:${name}: the environment variable ${name} is not set.`)
  return value
}

/** The service rejects larger bodies. Also ends reading from devices such as /dev/zero. */
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
  new UsageError(`${what} is larger than ${MAX_INPUT_BYTES / 1024 ** 2} MB, the maximum size of a request.`)

/** Removes the byte order mark. */
const decodeText = (bytes: Buffer): string => bytes.toString('utf8').replace(/^\uFEFF/, '')

export async function readTextFile(file: string, hint?: string): Promise<string> {
  try {
    return decodeText(await readStream(createReadStream(file), MAX_INPUT_BYTES, () => createTooLargeError(file)))
  } catch (error) {
    if (error instanceof UsageError) throw error
    const trouble = createReadError(file, error)
    throw new UsageError(trouble.message, [trouble.hint, hint].filter(Boolean).join(' ') || undefined)
  }
}

const JSON_FLAG_HINT = 'Quote the value for the shell, or pass a file with @file.'

export function parseJson(text: string, where: string, hint = where.startsWith('--') ? JSON_FLAG_HINT : undefined): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${where} is not valid JSON: ${(error as Error).message}`, hint)
  }
}

/** Accepts one object, a list of objects or several YAML documents. */
export async function parseResources(text: string, file: string, hint?: string): Promise<ResourceInput> {
  const place = file === '-' ? 'Stdin' : file
  const value = await parseStructure(text, place)
  const bodies: unknown[] = Array.isArray(value) ? value : [value]
  if (!bodies.every(isObject)) throw new UsageError(`${place} must contain an object or a list of objects.`, hint)
  return { isList: Array.isArray(value), bodies }
}

/** Parses JSON as JSON for better error messages. Several YAML documents become a list. */
async function parseStructure(text: string, file: string): Promise<unknown> {
  if (extname(file) === '.json' || (extname(file) === '' && /^\s*[[{]/.test(text))) return parseJson(text, file || 'The text')
  const { parseAllDocuments } = await import('../terminal/yaml.ts')
  const documents = [parseAllDocuments(text, { merge: true })].flat()
  for (const document of documents) {
    const [problem] = document.errors
    if (problem) throw new UsageError(`${file || 'The text'} is not valid YAML: ${problem.message}`)
  }
  const values = documents.map((document) => toPlainValue(document, file))
  return values.length === 1 ? values[0] : values.flat()
}

/** Rejects recursive aliases and alias bombs. */
function toPlainValue(document: { toJS: () => unknown }, file: string): unknown {
  try {
    const value = document.toJS()
    JSON.stringify(value)
    return value
  } catch (error) {
    throw new UsageError(
      `${file || 'The text'} cannot be read: its aliases (*name) are recursive or expand to too many values.`,
      `Replace the aliases by their values. ${(error as Error).message.split('\n')[0]}`,
    )
  }
}

export async function promptSecret(prompt: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const { Writable } = await import('node:stream')
  const silent = new Writable({ write: (_piece, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  // Printed after readline has turned off the echo.
  process.stderr.write(prompt)
  lines.on('SIGINT', () => process.emit('SIGINT'))
  try {
    return await lines.question('')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
