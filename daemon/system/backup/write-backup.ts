/** Writes a backup of a home to a file: a snapshot of the records, documents, sealed secrets and, on request, the indexes. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import {
  BACKUP_FORMAT,
  type BackupFile,
  type BackupManifest,
  DATABASE_NAME,
  HOME_FILES,
  isBackupName,
  MANIFEST_NAME,
} from '../../../src/backup/format.ts'
import { createHeader, createPadding, createTrailer } from '../../../src/backup/tar.ts'
import { copyDatabase } from '../../store/database.ts'

export interface BackupTask {
  home: string
  database: string
  documents: string
  vectors: string
  /** The file to create, and the temporary files to write first. */
  target: string
  partial: string
  snapshot: string
  includeIndex: boolean
  version: string
}

export interface WrittenBackup {
  size: number
  files: number
  sha256: string
  created_at: string
}

interface Input {
  name: string
  path: string
  size: number
}

const READ_BYTES = 1024 ** 2

/** The target appears only when the backup is complete and on disk. */
export async function writeBackup(task: BackupTask, report: (bytes: number, totalBytes: number) => void): Promise<WrittenBackup> {
  const createdAt = new Date()
  try {
    // Before the files: the originals of all its documents are stored, and none is removed until the end of the backup.
    copyDatabase(task.database, task.snapshot)
    const inputs = await listInputs(task)
    const totalBytes = inputs.reduce((sum, { size }) => sum + size, 0)
    const files: BackupFile[] = []
    const [hash, size] = [createHash('sha256'), { bytes: 0 }]
    const counter = new Transform({
      transform(chunk: Buffer, _, done) {
        hash.update(chunk)
        size.bytes += chunk.length
        done(null, chunk)
      },
    })
    // Left by a process that was killed, or placed there by another user, who could read the backup through it.
    await rm(task.partial, { force: true })
    await pipeline(
      generateArchive(inputs, task, createdAt, files, (bytes) => report(bytes, totalBytes)),
      // Text is a third of its size already at the fastest level, and most documents are compressed.
      createGzip({ level: constants.Z_BEST_SPEED }),
      counter,
      createWriteStream(task.partial, { flags: 'wx', mode: 0o600, flush: true }),
    )
    await rename(task.partial, task.target)
    await syncDirectory(dirname(task.target))
    return { size: size.bytes, files: files.length, sha256: hash.digest('hex'), created_at: createdAt.toISOString() }
  } finally {
    await rm(task.snapshot, { force: true })
    await rm(task.partial, { force: true })
  }
}

async function* generateArchive(
  inputs: readonly Input[],
  { home, version }: BackupTask,
  createdAt: Date,
  files: BackupFile[],
  report: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let bytes = 0
  for (const { name, path, size } of inputs) {
    const file = await (name === DATABASE_NAME ? open(path) : open(path).catch(ignoreMissing))
    if (!file) continue // an index is replaced while it is read
    const hash = createHash('sha256')
    yield createHeader(name, size, createdAt)
    let read = 0
    if (size > 0)
      for await (const chunk of createReadStream('', { fd: file, end: size - 1, highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>) {
        hash.update(chunk)
        read += chunk.length
        bytes += chunk.length
        report(bytes)
        yield chunk
      }
    else await file.close()
    if (read !== size) throw new Error(`${path} became shorter while it was read`)
    yield createPadding(size)
    files.push({ name, size, sha256: hash.digest('hex') })
  }
  const manifest: BackupManifest = { format: BACKUP_FORMAT, version, created_at: createdAt.toISOString(), home, files: [...files] }
  const text = Buffer.from(`${JSON.stringify(manifest)}\n`)
  yield createHeader(MANIFEST_NAME, text.length, createdAt)
  yield text
  yield createPadding(text.length)
  yield createTrailer()
}

async function listInputs({ home, documents, vectors, snapshot, includeIndex }: BackupTask): Promise<Input[]> {
  const inputs: Input[] = [{ name: DATABASE_NAME, path: snapshot, size: (await stat(snapshot)).size }]
  for (const name of HOME_FILES) await addFile(inputs, name, join(home, name))
  await addFolder(inputs, 'documents', documents)
  if (includeIndex) await addFolder(inputs, 'vectors', vectors)
  return inputs
}

async function addFolder(inputs: Input[], name: string, path: string): Promise<void> {
  const entries = (await readdir(path, { withFileTypes: true }).catch(ignoreMissing)) ?? []
  // A version of an index lists files that exist already, so versions are listed first.
  const isFirst = (entry: { name: string }) => Number(entry.name !== '_versions')
  for (const entry of entries.sort((a, b) => isFirst(a) - isFirst(b))) {
    const child = [`${name}/${entry.name}`, join(path, entry.name)] as const
    if (entry.isDirectory()) await addFolder(inputs, ...child)
    else if (entry.isFile()) await addFile(inputs, ...child)
  }
}

async function addFile(inputs: Input[], name: string, path: string): Promise<void> {
  const found = await stat(path).catch(ignoreMissing)
  if (found && isBackupName(name)) inputs.push({ name, path, size: found.size })
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** A rename is durable only after its directory is synced. Windows neither needs nor allows it. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
