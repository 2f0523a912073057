/** Makes the names in a directory durable. */
import { open } from 'node:fs/promises'

/** A new, renamed or removed name survives a power cut only after its directory is synced. Windows neither needs nor allows it. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
