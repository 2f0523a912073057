/** Reads a file of a source that may have changed since it was listed. */
import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { sep } from 'node:path'
import { CadreError } from '../../../../src/contract/errors.ts'

// Neither follows a symbolic link nor blocks on a pipe that has replaced the file. Windows has neither flag.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Throws CadreError unless the path is a regular file within `root` of at most `limit` bytes. */
export async function readFileWithin(root: string, path: string, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  signal.throwIfAborted()
  let handle: FileHandle | undefined
  try {
    const real = await realpath(path)
    if (!isWithin(root, real)) throw new CadreError('FORBIDDEN', 'The file is a symbolic link to a location outside the folder.')
    handle = await open(real, OPEN_FLAGS)
    const stats = await handle.stat()
    if (!stats.isFile()) throw new CadreError('UNSUPPORTED_MEDIA_TYPE', 'The path is not a regular file.')
    if (stats.size > limit) throw createSizeError(stats.size, limit)
    return await readAll(handle, stats.size, limit, signal)
  } catch (error) {
    if (error instanceof CadreError || signal.aborted) throw error
    throw toReadError(error)
  } finally {
    await handle?.close()
  }
}

/** Reads to the end, because the file may grow, but never more than the limit. */
async function readAll(handle: FileHandle, size: number, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  let bytes = Buffer.allocUnsafe(size + 1)
  let length = 0
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, null)
    if (bytesRead === 0) return bytes.subarray(0, length)
    length += bytesRead
    if (length > limit) throw createSizeError(length, limit)
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(length * 2, limit + 1))
  }
}

export const isWithin = (root: string, path: string): boolean => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

function createSizeError(size: number, limit: number): CadreError {
  return new CadreError('PAYLOAD_TOO_LARGE', formatSizeProblem(size, limit), {
    hint: 'Increase max_file_size of the source, or split the document.',
  })
}

export const formatSizeProblem = (size: number, limit: number, prefix = ''): string =>
  `The document has ${prefix}${size} bytes; this source accepts at most ${limit}.`

export function toReadError(error: unknown): CadreError {
  const { code } = error as NodeJS.ErrnoException
  const cause = { cause: error }
  if (code === 'ENOENT' || code === 'ENOTDIR') return new CadreError('NOT_FOUND', 'The file was removed before it could be read.', cause)
  if (code === 'EACCES' || code === 'EPERM') return new CadreError('FORBIDDEN', 'The file cannot be read: permission denied.', cause)
  if (code === 'ELOOP') return new CadreError('FORBIDDEN', 'The file is a symbolic link that cannot be resolved.', cause)
  return new CadreError('UNAVAILABLE', `The file cannot be read (${code ?? (error as Error).message}).`, cause)
}
