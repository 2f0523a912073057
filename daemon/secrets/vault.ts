/** Seals secrets with a master key kept in the OS keychain or in a file in the home. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Paths } from '../../src/config.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { VAULT_KEY } from '../../src/keychain.ts'
import { writeFileAtomically } from '../process/home.ts'
import type { Redactor } from './redactor.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FORMAT_VERSION = 'v1'

/** The OS keychain. Both methods throw if there is none. */
export interface Keychain {
  read(name: string): Promise<string | undefined>
  write(name: string, value: string): Promise<void>
}

export interface Vault {
  /** Where the key is stored; `locked` if it is unavailable. */
  readonly location: 'keychain' | 'file' | 'environment' | 'locked'
  /** Identifies the key; undefined if it is unavailable. */
  readonly fingerprint?: string | undefined
  /** The context names the owner, such as `model_…/api_key`. A sealed secret opens only with the same context. */
  seal(plain: string, context: string): string
  open(sealed: string, context: string): string
}

interface VaultOptions {
  paths: Paths
  keychain: Keychain
  redactor: Redactor
  /** A key that daemons of one database share, in base64. Default: the key of the home. */
  sharedKey?: string | undefined
}

/** Content of vault.json: enough to detect a missing or different key, but not to derive it. */
interface VaultRecord {
  location: 'keychain' | 'file'
  fingerprint: string
}

/** A missing key is never replaced: a new one would make every sealed secret unreadable. */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const { paths, redactor, sharedKey } = options
  const record = readRecord(paths)
  const found =
    sharedKey !== undefined
      ? checkSharedKey(sharedKey, record, paths)
      : record === undefined
        ? await createKey(options)
        : await loadKey(options, record)
  if (found instanceof CadreError) return createLockedVault(found)
  redactor.add(found.key.toString('base64'))
  redactor.add(found.key.toString('hex'))
  return createVault(found.key, found.location, redactor)
}

interface VaultKey {
  key: Buffer
  location: 'keychain' | 'file' | 'environment'
}

/** A home whose secrets are sealed with another key keeps that key. */
function checkSharedKey(text: string, record: VaultRecord | undefined, { vault }: Paths): VaultKey {
  const key = parseKey(text)
  if (key === undefined)
    throw new CadreError('UNAVAILABLE', 'CADRE_VAULT_KEY must be 32 random bytes in base64.', {
      hint: 'Create one with: openssl rand -base64 32. Use the same one for all daemons of a database.',
    })
  if (record !== undefined && record.fingerprint !== computeFingerprint(key))
    throw new CadreError('UNAVAILABLE', 'CADRE_VAULT_KEY is not the key of this home.', {
      hint: `Unset it, or set it to the key of this home. If the secrets of the home are not needed, delete ${vault}.`,
    })
  return { key, location: 'environment' }
}

/** Stores the key before the record. If an earlier start died in between, its key is reused. */
async function createKey({ paths, keychain }: VaultOptions): Promise<VaultKey> {
  const left = parseKey(readFileIfPresent(paths.vaultKey))
  if (left !== undefined) return writeRecord(paths, { key: left, location: 'file' })
  const inKeychain = await createKeychainKey(keychain)
  if (inKeychain !== undefined) return writeRecord(paths, { key: inKeychain, location: 'keychain' })
  const key = randomBytes(KEY_BYTES)
  writeFileAtomically(paths.vaultKey, `${key.toString('base64')}\n`)
  return writeRecord(paths, { key, location: 'file' })
}

async function createKeychainKey(keychain: Keychain): Promise<Buffer | undefined> {
  try {
    const left = parseKey(await keychain.read(VAULT_KEY))
    if (left !== undefined) return left
    const key = randomBytes(KEY_BYTES)
    await keychain.write(VAULT_KEY, key.toString('base64'))
    return key
  } catch {
    return undefined // no working keychain: the key is stored in the home
  }
}

function writeRecord(paths: Paths, found: VaultKey & Pick<VaultRecord, 'location'>): VaultKey {
  const record: VaultRecord = { location: found.location, fingerprint: computeFingerprint(found.key) }
  writeFileAtomically(paths.vault, `${JSON.stringify(record)}\n`)
  return found
}

async function loadKey(
  { paths, keychain }: VaultOptions,
  { location, fingerprint: expected }: VaultRecord,
): Promise<VaultKey | CadreError> {
  const where = location === 'keychain' ? 'the keychain' : paths.vaultKey
  const locked = (problem: string, hint: string, cause?: unknown) =>
    new CadreError('UNAVAILABLE', `The vault is locked: ${problem}`, { hint, cause })
  let text: string | undefined
  try {
    text = location === 'keychain' ? await keychain.read(VAULT_KEY) : readFileIfPresent(paths.vaultKey)
  } catch (error) {
    const way = error instanceof CadreError && error.hint ? error.hint : 'Make it readable.'
    return locked(`cannot read its key from ${where}. ${(error as Error).message}`, `${way} Then: cadre daemon restart`, error)
  }
  const reset = `delete ${paths.vault}, restart and set all secrets again.`
  const restore = `Restore the key from a backup and restart the daemon. If it is lost, ${reset}`
  if (text === undefined) return locked(`its key is missing from ${where}.`, restore)
  const key = parseKey(text)
  if (key === undefined) return locked(`${where} does not contain a valid key.`, restore)
  if (computeFingerprint(key) !== expected) return locked(`the key in ${where} does not belong to this vault.`, restore)
  return { key, location }
}

function createVault(key: Buffer, location: VaultKey['location'], redactor: Redactor): Vault {
  return {
    location,
    fingerprint: computeFingerprint(key),
    seal(plain, context) {
      redactor.add(plain)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context))
      const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${FORMAT_VERSION}.${sealed.toString('base64url')}`
    },
    open(sealed, context) {
      const plain = decrypt(key, sealed, context)
      redactor.add(plain)
      return plain
    },
  }
}

function createLockedVault(reason: CadreError): Vault {
  const refuse = (): never => {
    // A new error each time, for its stack trace.
    throw new CadreError(reason.code, reason.message, { hint: reason.hint, cause: reason })
  }
  return { location: 'locked', fingerprint: undefined, seal: refuse, open: refuse }
}

function decrypt(key: Buffer, sealed: string, context: string): string {
  const [version, body, ...more] = sealed.split('.')
  if (version !== FORMAT_VERSION || body === undefined || more.length > 0)
    throw createUnsealError(context, 'its format is unknown to this version')
  const bytes = Buffer.from(body, 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw createUnsealError(context, 'it is truncated')
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch (error) {
    throw createUnsealError(context, 'it was modified, belongs to another resource, or was sealed with another key', error)
  }
}

function createUnsealError(context: string, problem: string, cause?: unknown): CadreError {
  return new CadreError('INTERNAL', `Cannot open the secret of ${context}: ${problem}.`, { hint: 'Set the secret again.', cause })
}

function readRecord(paths: Paths): VaultRecord | undefined {
  const text = readFileIfPresent(paths.vault)
  if (text === undefined) return undefined
  try {
    const record = JSON.parse(text) as Partial<VaultRecord>
    if ((record.location === 'keychain' || record.location === 'file') && typeof record.fingerprint === 'string')
      return record as VaultRecord
  } catch (error) {
    throw createRecordError(paths, error)
  }
  throw createRecordError(paths)
}

function createRecordError(paths: Paths, cause?: unknown): CadreError {
  return new CadreError('UNAVAILABLE', `Cannot read ${paths.vault}, which says where the vault's key is.`, {
    hint: 'Restore it from a backup, or delete it: an existing key is found again.',
    cause,
  })
}

function readFileIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function parseKey(text: string | undefined): Buffer | undefined {
  const key = Buffer.from(text?.trim() ?? '', 'base64')
  return key.length === KEY_BYTES ? key : undefined
}

function computeFingerprint(key: Buffer): string {
  return createHash('sha256').update('cadre vault key').update(key).digest('base64url').slice(0, 22)
}
