/**
 * Jobs that wait for a worker: by priority, and with the same priority one of each owner in turn. With the high priority, the owner with
 * the fewest recent jobs is next, so that somebody who asks now and then hardly waits for somebody who asks all the time.
 */
import { PRIORITIES, type Priority } from './worker-protocol.ts'

export interface QueuedJob {
  priority: Priority
  /** Whoever wants the result. Jobs of the same owner run in their order. */
  owner: unknown
}

/** After this many urgent jobs, those of each owner count half. */
const RECENT_JOBS = 256

export class JobQueue<Job extends QueuedJob> {
  readonly #owners: Record<Priority, Map<unknown, Set<Job>>> = { high: new Map(), normal: new Map(), low: new Map() }
  /** Recent urgent jobs by owner. */
  readonly #recent = new Map<unknown, number>()
  #countedJobs = 0
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
    const owners = PRIORITIES.map((priority) => this.#owners[priority]).find(({ size }) => size > 0)
    if (!owners) return undefined
    const jobs = owners === this.#owners.high ? this.#findLeastServed(owners) : owners.values().next().value
    return jobs?.values().next().value
  }

  #findLeastServed(owners: ReadonlyMap<unknown, Set<Job>>): Set<Job> | undefined {
    let [least, found]: [number, Set<Job> | undefined] = [Number.POSITIVE_INFINITY, undefined]
    for (const [owner, jobs] of owners) {
      const recent = this.#recent.get(owner) ?? 0
      if (recent < least) [least, found] = [recent, jobs]
    }
    return found
  }

  /** Removes the next job. Its owner goes to the end of the line. */
  take(): Job | undefined {
    const job = this.peek()
    if (!job) return undefined
    const owners = this.#owners[job.priority]
    const jobs = owners.get(job.owner) as Set<Job>
    this.delete(job)
    if (owners.delete(job.owner)) owners.set(job.owner, jobs)
    if (job.priority === 'high') this.#countRecent(job.owner)
    return job
  }

  #countRecent(owner: unknown): void {
    this.#recent.set(owner, (this.#recent.get(owner) ?? 0) + 1)
    if (++this.#countedJobs % RECENT_JOBS > 0) return
    for (const [one, count] of this.#recent) {
      if (count < 2) this.#recent.delete(one)
      else this.#recent.set(one, count / 2)
    }
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
