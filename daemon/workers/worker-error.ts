/** Why a job of a worker pool has no result. */
import { CadreError } from '../../src/contract/errors.ts'

export type WorkerProblem =
  /** The worker reported an error. */
  | 'failed'
  | 'timeout'
  | 'memory'
  /** The worker ended, for example because the system killed it. */
  | 'lost'
  /** No worker could start. */
  | 'broken'
  /** Too many jobs are waiting. */
  | 'busy'
  /** The pool was closed. */
  | 'closed'

const REINSTALL = 'Reinstall Cadre; in a source checkout, run npm run build.'
const RETRY = 'Try again in a moment.'

export class WorkerError extends CadreError {
  readonly problem: WorkerProblem
  /** The message of the worker, the time limit in milliseconds or the memory limit in MB. */
  readonly detail: string

  /** @param name what the worker does, for example "embedded model" */
  constructor(problem: WorkerProblem, name: string, detail = '') {
    const isTemporary = problem === 'broken' || problem === 'busy' || problem === 'closed'
    super(isTemporary ? 'UNAVAILABLE' : 'INTERNAL', MESSAGES[problem](name, detail), {
      hint: problem === 'broken' ? REINSTALL : problem === 'failed' ? undefined : RETRY,
    })
    this.problem = problem
    this.detail = detail
  }
}

const MESSAGES: Record<WorkerProblem, (name: string, detail: string) => string> = {
  failed: (name, detail) => `The ${name} failed: ${detail}`,
  timeout: (name, detail) => `The ${name} took longer than ${Number(detail) / 1000} s.`,
  memory: (name, detail) => `The ${name} needed more memory than ${detail} MB.`,
  lost: (name, detail) => `The worker of the ${name} was lost: ${detail}.`,
  broken: (name, detail) => `The ${name} cannot be loaded: ${detail}`,
  busy: (name) => `Too much work is waiting for the ${name}.`,
  closed: () => 'The daemon is stopping.',
}
