/** Checks the contents of files without which commands or the daemon would not work, before anything is restored. */
import { VAULT_NAME } from '../../backup/format.ts'
import { ArchiveError } from '../../backup/tar.ts'
import { isValidToken } from '../../client/address.ts'
import { parseDatabaseUrl, type Settings } from '../../config.ts'
import { parseStorageUrl } from '../../storage-settings.ts'
import { isObject } from '../input/input-reader.ts'

const DATABASE_SIGNATURE = 'SQLite format 3\0'
const DATABASE_HEADER_BYTES = 100
/** Created by the first start of a daemon. SQLite stores this definition as text, like those of all tables. */
const FIRST_TABLE = 'CREATE TABLE migrations'
const VAULT_KEY_BYTES = 32

const SETTING_TYPES: Record<keyof Settings, 'string' | 'boolean'> = {
  url: 'string',
  token: 'string',
  output: 'string',
  start: 'boolean',
  agent: 'string',
  history: 'boolean',
  'database-url': 'string',
  'database-token': 'string',
  'storage-url': 'string',
}

/** Returns the content of a small file of a home, or throws an ArchiveError. */
export function checkHomeFile(name: string, content: Buffer): Buffer {
  const problem = findProblem(name, content.toString('utf8'))
  if (problem !== undefined) throw new ArchiveError(`its ${name} ${problem}`)
  return content
}

function findProblem(name: string, text: string): string | undefined {
  switch (name) {
    case 'token':
      return isValidToken(text.trim()) ? undefined : 'is not a token'
    case 'vault.key':
      return Buffer.from(text.trim(), 'base64').length === VAULT_KEY_BYTES ? undefined : `is not a key of ${VAULT_KEY_BYTES} bytes`
    default:
      return findJsonProblem(name, text)
  }
}

function findJsonProblem(name: string, text: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'is not valid JSON'
  }
  if (!isObject(value)) return 'is not an object'
  if (name === VAULT_NAME) return isVault(value) ? undefined : 'does not say where the key of the vault is'
  const wrong = Object.keys(SETTING_TYPES).find((name) => value[name] !== undefined && !isUsable(name as keyof Settings, value[name]))
  return wrong && `has an invalid value of ${JSON.stringify(wrong)}`
}

const isVault = ({ location, fingerprint }: Record<string, unknown>): boolean =>
  (location === 'keychain' || location === 'file') && typeof fingerprint === 'string'

/** Whether commands and the daemon work with this value of a setting. */
function isUsable(name: keyof Settings, value: unknown): boolean {
  if (typeof value !== SETTING_TYPES[name]) return false
  const text = String(value)
  if (name === 'token') return isValidToken(text)
  if (name === 'database-url') return canParse(text, parseDatabaseUrl)
  if (name === 'storage-url') return canParse(text, parseStorageUrl)
  return name !== 'url' || (/^https?:/.test(text) && URL.canParse(text))
}

function canParse(text: string, parse: (text: string, name: string) => string): boolean {
  try {
    parse(text, '')
    return true
  } catch {
    return false
  }
}

/** Passes the content on. Throws an ArchiveError if it is not the whole database of a home. */
export async function* checkDatabase(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let header = Buffer.alloc(0)
  let size = 0
  let end = Buffer.alloc(0)
  let hasTables = false
  for await (const part of content) {
    size += part.length
    if (header.length < DATABASE_HEADER_BYTES) {
      header = Buffer.concat([header, part.subarray(0, DATABASE_HEADER_BYTES)])
      if (!startsLikeDatabase(header)) throw new ArchiveError('its cadre.db is not a database')
    }
    // The definition may begin in one part and end in the next.
    hasTables ||= part.includes(FIRST_TABLE) || Buffer.concat([end, part.subarray(0, FIRST_TABLE.length)]).includes(FIRST_TABLE)
    end = Buffer.concat([end, part.subarray(-FIRST_TABLE.length)]).subarray(-FIRST_TABLE.length)
    yield part
  }
  if (size < DATABASE_HEADER_BYTES || size !== readDatabaseSize(header)) throw new ArchiveError('its cadre.db is not a whole database')
  if (!hasTables) throw new ArchiveError('its cadre.db does not have the tables of a home')
}

const startsLikeDatabase = (start: Buffer): boolean => DATABASE_SIGNATURE.startsWith(start.toString('latin1', 0, DATABASE_SIGNATURE.length))

/** The size of a page times the number of pages (https://www.sqlite.org/fileformat.html). */
function readDatabaseSize(header: Buffer): number {
  const pageSize = header.readUInt16BE(16)
  return (pageSize === 1 ? 65_536 : pageSize) * header.readUInt32BE(28)
}
