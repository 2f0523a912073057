/** Finds the folder of this package. Bundling moves the code, so it looks for package.json. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export function resolvePackageFolder(): URL {
  let folder = new URL('.', import.meta.url)
  while (!existsSync(new URL('package.json', folder))) {
    const above = new URL('..', folder)
    if (above.href === folder.href) throw new Error(`No package.json found above ${fileURLToPath(import.meta.url)}.`)
    folder = above
  }
  return folder
}
