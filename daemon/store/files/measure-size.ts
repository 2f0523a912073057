import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The size of a file or folder, in bytes; 0 if it does not exist. */
export async function measureSize(path: string): Promise<number> {
  const stats = await stat(path).catch(() => undefined)
  if (!stats?.isDirectory()) return stats?.size ?? 0
  const names = await readdir(path).catch(() => [])
  const sizes = await Promise.all(names.map((name) => measureSize(join(path, name))))
  return sizes.reduce((sum, size) => sum + size, 0)
}
