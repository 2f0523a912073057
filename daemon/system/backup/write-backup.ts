/** Writes a backup of a home to a file: a snapshot of the records, documents, sealed secrets and, on request, the indexes. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { constants, gzipSync } from 'node:zlib'
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
import { ignoreMissing } from '../../store/files/list-files.ts'
import { syncDirectory } from '../../store/files/sync-directory.ts'

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
/** Written before it is synced. Commits of the daemon wait for a sync on the same disk. */
const MAX_UNSYNCED_BYTES = 4 * 1024 ** 2
const MAX_PAUSE_MS = 500
const SAMPLE_COUNT = 16
const SAMPLE_BYTES = 4096

/** The target appears only when the backup is complete and on disk. */
export async function writeBackup(task: BackupTask, report: (bytes: number, totalBytes: number) => void): Promise<WrittenBackup> {
  const createdAt = new Date()
  try {
    // Before the files: the originals of all its documents are stored, and none is removed until the end of the backup.
    copyDatabase(task.database, task.snapshot)
    const inputs = await listInputs(task)
    const totalBytes = inputs.reduce((sum, { size }) => sum + size, 0)
    const files: BackupFile[] = []
    const archive = generateArchive(inputs, task, createdAt, files, (bytes) => report(bytes, totalBytes))
    const written = await writeArchive(task.partial, archive)
    await rename(task.partial, task.target)
    await syncDirectory(dirname(task.target))
    return { ...written, files: files.length, created_at: createdAt.toISOString() }
  } finally {
    await rm(task.snapshot, { force: true })
    await rm(task.partial, { force: true })
  }
}

/** Works at most half of the time, so that requests are served meanwhile. */
async function writeArchive(path: string, archive: AsyncIterable<Buffer>): Promise<{ size: number; sha256: string }> {
  // Left by a process that was killed, or placed there by another user, who could read the backup through it.
  await rm(path, { force: true })
  const file = await open(path, 'wx', 0o600)
  try {
    const hash = createHash('sha256')
    let [size, unsynced] = [0, 0]
    let startedAt = performance.now()
    for await (const block of gatherBlocks(archive)) {
      const compressed = compressBlock(block)
      hash.update(compressed)
      await file.writeFile(compressed)
      size += compressed.length
      unsynced += compressed.length
      if (unsynced >= MAX_UNSYNCED_BYTES) {
        await file.datasync()
        unsynced = 0
      }
      await pause(Math.min(performance.now() - startedAt, MAX_PAUSE_MS))
      startedAt = performance.now()
    }
    await file.sync()
    return { size, sha256: hash.digest('hex') }
  } finally {
    await file.close()
  }
}

/** Combines small files, which compress better together. */
async function* gatherBlocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [parts, bytes]: [Buffer[], number] = [[], 0]
  for await (const chunk of chunks) {
    parts.push(chunk)
    bytes += chunk.length
    if (bytes < READ_BYTES) continue
    yield Buffer.concat(parts)
    ;[parts, bytes] = [[], 0]
  }
  yield Buffer.concat(parts)
}

/**
 * A gzip file is a sequence of compressed blocks. Each is compressed in this thread, because the threads of asynchronous zlib are
 * those of the daemon. Text is a third of its size already at the fastest level. PDF, Word and image files are stored as they are.
 */
function compressBlock(block: Buffer): Buffer {
  const step = Math.ceil(block.length / SAMPLE_COUNT)
  const samples = Array.from({ length: SAMPLE_COUNT }, (_, index) => block.subarray(index * step, index * step + SAMPLE_BYTES))
  const sample = Buffer.concat(samples)
  const isCompressible = gzipSync(sample, { level: constants.Z_BEST_SPEED }).length < 0.95 * sample.length
  return gzipSync(block, { level: isCompressible ? constants.Z_BEST_SPEED : constants.Z_NO_COMPRESSION })
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
