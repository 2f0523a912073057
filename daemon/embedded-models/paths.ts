/** Paths of the embedded models and of the worker's code, for the source tree and the bundle. */
import { fileURLToPath } from 'node:url'
import { findPackageFolder } from '../../src/package-folder.ts'

export const getModelsDirectory = (): string => fileURLToPath(new URL('dist/models/', findPackageFolder()))

/** In the source tree the worker is TypeScript and needs a loader. */
export function getWorkerEntry(): { file: string; execArgv: string[] } {
  if (!import.meta.url.endsWith('.ts'))
    return { file: fileURLToPath(new URL('dist/daemon/embedded-models/worker.js', findPackageFolder())), execArgv: [] }
  return { file: fileURLToPath(new URL('worker.ts', import.meta.url)), execArgv: ['--import', import.meta.resolve('tsx')] }
}
