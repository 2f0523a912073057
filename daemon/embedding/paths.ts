/** Where the built model and the code of its workers are, from source and in the bundle. */
import { fileURLToPath } from 'node:url'
import { packageFolder } from '../process/package-folder.ts'

/** Where the build puts the embedded models. */
export const getModelsDirectory = (): string => fileURLToPath(new URL('dist/models/', packageFolder()))

/** What a worker runs, and what Node must be told to run it: from source it is TypeScript. */
export function getWorkerEntry(): { file: string; execArgv: string[] } {
  if (!import.meta.url.endsWith('.ts'))
    return { file: fileURLToPath(new URL('dist/daemon/embedding/worker.js', packageFolder())), execArgv: [] }
  return { file: fileURLToPath(new URL('worker.ts', import.meta.url)), execArgv: ['--import', import.meta.resolve('tsx')] }
}
