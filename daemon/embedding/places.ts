/** Where the built model and the code of its threads are, from source and in the bundle. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the build puts the embedded models. */
export const builtModels = (): string => fileURLToPath(new URL('dist/models/', packageFolder()))

/** What a thread starts with. From source that is TypeScript, which tsx must be told to read in every thread anew: Node 20 hands loaders down to none. */
export function workerEntry(): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('dist/daemon/embedding/worker.js', packageFolder())
  const [tsx, worker] = [import.meta.resolve('tsx/esm/api'), new URL('worker.ts', import.meta.url).href].map((address) => JSON.stringify(address))
  return new URL(`data:text/javascript,${encodeURIComponent(`import { register } from ${tsx}; register(); await import(${worker})`)}`)
}

/** The bundle moves code about; package.json stays. */
function packageFolder(): URL {
  let folder = new URL('.', import.meta.url)
  while (!existsSync(new URL('package.json', folder))) {
    const above = new URL('..', folder)
    if (above.href === folder.href) throw new Error(`There is no package around ${fileURLToPath(import.meta.url)}.`)
    folder = above
  }
  return folder
}
