/** Has a document read in a thread of its own, within limits of time and memory. */
import { Worker } from 'node:worker_threads'
import { CadreError, createValidationError } from '../../../src/contract/errors.ts'
import { packageFolder } from '../../process/package-folder.ts'
import type { Plan } from './plan.ts'
import type { Outcome, Task } from './worker.ts'

/** Five megabytes of YAML take ten seconds of a processor, which others may be using. */
const LONGEST_MS = 60_000
const MOST_MEMORY_MB = 768

export async function plannedImport(task: Task, field: string): Promise<Plan> {
  const outcome = await answerOf(task)
  if (outcome.kind === 'plan') return outcome.plan
  if (outcome.field !== undefined) throw createValidationError(outcome.field, outcome.reason, outcome.hint)
  throw createValidationError(field, `cannot be imported: ${outcome.reason}`, outcome.hint)
}

async function answerOf(workerData: Task): Promise<Outcome> {
  const worker = new Worker(workerEntry(), { name: 'openapi', workerData, resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB } })
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<Outcome>((resolve, reject) => {
      timer = setTimeout(() => resolve({ kind: 'refused', reason: `reading it took longer than ${LONGEST_MS / 1000} s` }), LONGEST_MS)
      worker.once('message', resolve)
      worker.once('error', (error) => reject(error))
      worker.once('exit', (code) => reject(new Error(`The thread that reads OpenAPI documents exited with ${code}.`)))
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
      return { kind: 'refused', reason: `reading it needs more than ${MOST_MEMORY_MB} MB` }
    throw new CadreError('INTERNAL', 'The document could not be read. This is a bug.', { cause: error })
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}

/** From source it is TypeScript, which tsx must be told to read in every thread anew. */
function workerEntry(): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('dist/daemon/api-tools/openapi-worker.js', packageFolder())
  const [tsx, worker] = [import.meta.resolve('tsx/esm/api'), new URL('worker.ts', import.meta.url).href].map((address) =>
    JSON.stringify(address),
  )
  return new URL(`data:text/javascript,${encodeURIComponent(`import { register } from ${tsx}; register(); await import(${worker})`)}`)
}
