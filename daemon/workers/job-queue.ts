/** Jobs that wait for a worker: by priority, and with the same priority one of each owner in turn. */
import { PRIORITIES, type Priority } from './worker-protocol.ts'

export interface QueuedJob {
  priority: Priority
  /** Whoever wants the result. Jobs of the same owner run in their order. */
  owner: unknown
}

export class JobQueue<Job extends QueuedJob> {
  readonly #owners: Record<Priority, Map<unknown, Set<Job>>> = { high: new Map(), normal: new Map(), low: new Map() }
  #size = 0

  get size(): number {
    return this.#size
  }

  add(job: Job): void {
    const owners = this.#owners[job.priority]
    const jobs = owners.get(job.owner)
    if (jobs) jobs.add(job)
    else owners.set(job.owner, new Set([job]))
    this.#size++
  }

  /** Returns the next job, which stays in the queue. */
  peek(): Job | undefined {
    for (const priority of PRIORITIES) for (const jobs of this.#owners[priority].values()) return jobs.values().next().value
    return undefined
  }

  /** Removes the next job. Its owner goes to the end of the line. */
  take(): Job | undefined {
    const job = this.peek()
    if (!job) return undefined
    const owners = this.#owners[job.priority]
    const jobs = owners.get(job.owner) as Set<Job>
    this.delete(job)
    if (owners.delete(job.owner)) owners.set(job.owner, jobs)
    return job
  }

  delete(job: Job): boolean {
    const owners = this.#owners[job.priority]
    const jobs = owners.get(job.owner)
    if (!jobs?.delete(job)) return false
    if (jobs.size === 0) owners.delete(job.owner)
    this.#size--
    return true
  }
}
