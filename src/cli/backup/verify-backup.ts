/** Checks everything in a backup and, on request, writes its files to a folder. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import {
  BACKUP_FORMAT,
  type BackupFile,
  type BackupManifest,
  DATABASE_NAME,
  HOME_FILES,
  isBackupName,
  MANIFEST_NAME,
} from '../../backup/format.ts'
import { type ArchiveEntry, ArchiveError, readEntries } from '../../backup/tar.ts'
import { checkDatabase, checkHomeFile } from './check-contents.ts'

const MAX_MANIFEST_BYTES = 256 * 1024 ** 2
const MAX_SMALL_FILE_BYTES = 16 * 1024 ** 2
/** Databases compress to a tenth. Archives that expand far more are made to fill disks. */
const MAX_RATIO = 200
const RATIO_CHECKED_BYTES = 64 * 1024 ** 2
const MIN_FREE_BYTES = 256 * 1024 ** 2

interface VerificationOptions {
  /** Folder to write the files to. Without it, they are only checked. */
  folder?: string
  /** Called with the number of bytes of the archive that were read. */
  report(bytes: number, totalBytes: number): void
}

/** Returns the manifest. Throws an ArchiveError if the backup is damaged, incomplete or contains anything unexpected. */
export async function verifyBackup(path: string, { folder, report }: VerificationOptions): Promise<BackupManifest> {
  const { size: totalBytes } = await stat(path)
  let bytes = 0
  let extracted = 0
  const limit = await getLimit(folder)
  async function* readArchive(): AsyncGenerator<Buffer> {
    const source = createReadStream(path)
    const unpacked = createGunzip()
    source.on('data', (chunk) => {
      bytes += chunk.length
      report(bytes, totalBytes)
    })
    source.on('error', (error) => unpacked.destroy(error))
    source.pipe(unpacked)
    try {
      for await (const chunk of unpacked as AsyncIterable<Buffer>) {
        extracted += chunk.length
        if (extracted > RATIO_CHECKED_BYTES && extracted > bytes * MAX_RATIO)
          throw new ArchiveError(`it expands to more than ${MAX_RATIO} times its size`)
        if (extracted > limit) throw new ArchiveError('its files do not fit on the disk')
        yield chunk
      }
    } finally {
      source.destroy()
      unpacked.destroy()
    }
  }
  try {
    return await readFiles(readEntries(readArchive()), folder)
  } catch (error) {
    throw explainError(error)
  }
}

async function getLimit(folder: string | undefined): Promise<number> {
  if (folder === undefined) return Number.POSITIVE_INFINITY
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize - MIN_FREE_BYTES
}

/** The manifest is the last file and lists all others. */
async function readFiles(entries: AsyncIterable<ArchiveEntry>, folder: string | undefined): Promise<BackupManifest> {
  const files = new Map<string, BackupFile>()
  let manifest: BackupManifest | undefined
  for await (const entry of entries) {
    const { name, size } = entry
    if (manifest) throw new ArchiveError(`${JSON.stringify(name)} comes after the manifest`)
    if (name === MANIFEST_NAME) {
      manifest = await readManifest(entry)
      continue
    }
    if (!isBackupName(name)) throw new ArchiveError(`it contains ${JSON.stringify(name)}, which is not part of a home`)
    if (files.has(name)) throw new ArchiveError(`it contains ${name} twice`)
    if (!name.includes('/') && name !== DATABASE_NAME && size > MAX_SMALL_FILE_BYTES) throw new ArchiveError(`${name} is too large`)
    files.set(name, { name, size, sha256: await writeFile(name, await checkContent(entry), folder) })
  }
  if (!manifest) throw new ArchiveError('it is incomplete: the manifest is missing')
  compareWithManifest(manifest, files)
  return manifest
}

async function checkContent(entry: ArchiveEntry): Promise<AsyncIterable<Buffer> | Buffer[]> {
  if (entry.name === DATABASE_NAME) return checkDatabase(entry.content)
  const isHomeFile = (HOME_FILES as readonly string[]).includes(entry.name)
  return isHomeFile ? [checkHomeFile(entry.name, await buffer(entry.content))] : entry.content
}

async function readManifest(entry: ArchiveEntry): Promise<BackupManifest> {
  if (entry.size > MAX_MANIFEST_BYTES) throw new ArchiveError('its manifest is too large')
  const content = await buffer(entry.content)
  let manifest: Partial<BackupManifest>
  try {
    manifest = JSON.parse(content.toString('utf8')) as Partial<BackupManifest>
  } catch (error) {
    throw new ArchiveError('its manifest is damaged', { cause: error })
  }
  if (typeof manifest?.format !== 'number' || !Array.isArray(manifest.files)) throw new ArchiveError('its manifest is invalid')
  const { version, created_at, home, files } = manifest
  if ([version, created_at, home].some((text) => typeof text !== 'string') || files.some((file) => typeof file?.name !== 'string'))
    throw new ArchiveError('its manifest is invalid')
  if (manifest.format > BACKUP_FORMAT) throw new ArchiveError(`it was written by a newer version of Cadre (${manifest.version})`)
  return manifest as BackupManifest
}

/** Returns the checksum of the content. Without a folder, it is not written. */
async function writeFile(name: string, content: AsyncIterable<Buffer> | Buffer[], folder: string | undefined): Promise<string> {
  const hash = createHash('sha256')
  if (folder === undefined) for await (const part of content) hash.update(part)
  else {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const file = await open(path, 'wx', 0o600)
    try {
      for await (const part of content) {
        hash.update(part)
        await file.writeFile(part)
      }
      // Syncing every document would take minutes. After a power cut, the backup is restored again.
      if (name === DATABASE_NAME) await file.sync()
    } finally {
      await file.close()
    }
  }
  return hash.digest('hex')
}

function compareWithManifest(manifest: BackupManifest, files: ReadonlyMap<string, BackupFile>): void {
  if (!files.has(DATABASE_NAME)) throw new ArchiveError(`it does not contain ${DATABASE_NAME}`)
  if (manifest.files.length !== files.size) throw new ArchiveError('its files differ from its manifest')
  for (const { name, size, sha256 } of manifest.files) {
    const found = files.get(name)
    if (found?.size !== size || found.sha256 !== sha256) throw new ArchiveError(`the checksum of ${JSON.stringify(name)} is wrong`)
  }
}

/** Errors of zlib mean that the archive is damaged. */
function explainError(error: unknown): unknown {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'Z_BUF_ERROR') return new ArchiveError('it is incomplete', { cause: error })
  return code.startsWith('Z_') ? new ArchiveError(`it is damaged: ${message}`, { cause: error }) : error
}
