/** Finds packages that are too large for the development dependencies. Tests of them are skipped if they are not installed. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Returns a file of a package that was installed with `npm install --prefix .packages NAME`. */
export function findPackageFile(name: string, file: string): string | undefined {
  const path = join(ROOT, '.packages', 'node_modules', name, file)
  return existsSync(path) ? path : undefined
}
