/** Computes the SHA-256 hash of a file that need not fit into memory. */
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'

const BUFFER_BYTES = 1024 * 1024

/** With one buffer: a stream would fill the memory with buffers until the next garbage collection. */
export async function hashFile(path: string): Promise<string> {
  const digest = createHash('sha256')
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  const file = await open(path)
  try {
    for (let length = 1; length > 0; digest.update(buffer.subarray(0, length))) length = (await file.read(buffer)).bytesRead
  } finally {
    await file.close()
  }
  return digest.digest('hex')
}
