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
    super(isTemporary ? 'UNAVAILABLE' : 'INTERNAL', formatMessage(problem, name, detail), {
      hint: problem === 'broken' ? REINSTALL : problem === 'failed' ? undefined : RETRY,
    })
    this.problem = problem
    this.detail = detail
  }
}

function formatMessage(problem: WorkerProblem, name: string, detail: string): string {
  switch (problem) {
    case 'failed':
      return `The ${name} failed: ${detail}`
    case 'timeout':
      return `The ${name} took longer than ${Number(detail) / 1000} s.`
    case 'memory':
      return `The ${name} needed more memory than ${detail} MB.`
    case 'lost':
      return `The worker of the ${name} was lost: ${detail}.`
    case 'broken':
      return `The ${name} cannot be loaded: ${detail}`
    case 'busy':
      return `Too much work is waiting for the ${name}.`
    case 'closed':
      return 'The daemon is stopping.'
  }
}
