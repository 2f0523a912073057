/** Reading one file of a source, whatever happened to it since it was listed. */
import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { sep } from 'node:path'
import { CadreError } from '../../../../src/contract/errors.ts'

// Windows has neither; a pipe that took the file's place must not hang us, nor a link lead elsewhere.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** The file's bytes; it must still be a file, inside `root`, and no larger than `limit`. */
export async function readFileWithin(root: string, path: string, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  signal.throwIfAborted()
  let handle: FileHandle | undefined
  try {
    const real = await realpath(path)
    if (!isWithin(root, real)) throw new CadreError('FORBIDDEN', 'It is a link to a place outside the folder.')
    handle = await open(real, OPEN_FLAGS)
    const found = await handle.stat()
    if (!found.isFile()) throw new CadreError('UNSUPPORTED_MEDIA_TYPE', 'It is not a regular file.')
    if (found.size > limit) throw createSizeError(found.size, limit)
    return await readAll(handle, found.size, limit, signal)
  } catch (error) {
    if (error instanceof CadreError || signal.aborted) throw error
    throw toReadError(error)
  } finally {
    await handle?.close()
  }
}

/** Files grow while they are read: the size is where to start, the limit where to stop. */
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

export function createSizeError(size: number, limit: number): CadreError {
  return new CadreError('PAYLOAD_TOO_LARGE', formatSizeProblem(size, limit), {
    hint: "Raise the source's max_file_size, or split the document.",
  })
}

export const formatSizeProblem = (size: number, limit: number): string => `It has ${size} bytes; this source takes at most ${limit}.`

/** The system's refusal as a sentence. */
export function toReadError(error: unknown): CadreError {
  const { code } = error as NodeJS.ErrnoException
  const cause = { cause: error }
  if (code === 'ENOENT' || code === 'ENOTDIR') return new CadreError('NOT_FOUND', 'It was removed before it could be read.', cause)
  if (code === 'EACCES' || code === 'EPERM') return new CadreError('FORBIDDEN', 'Cadre may not read it: permission denied.', cause)
  if (code === 'ELOOP') return new CadreError('FORBIDDEN', 'It is a link that leads nowhere.', cause)
  return new CadreError('UNAVAILABLE', `It could not be read (${code ?? (error as Error).message}).`, cause)
}
