/**
 * Jobs that wait for a worker: by priority. Those with the high priority, for which somebody waits, are in the order in which the requests
 * would end if the workers were divided equally between their owners (self-clocked fair queueing). So somebody who asks now and then
 * hardly waits for somebody who asks all the time, a small request does not wait for a large one, and requests of the same size end one
 * after another: if their jobs took turns, all of them would end as late as the last one. Jobs of other priorities take turns by owner.
 */
import { PRIORITIES, type Priority } from './worker-protocol.ts'

/** Jobs of one request. */
export interface JobRequest {
  /** Number of its jobs. */
  size: number
}

export interface QueuedJob {
  priority: Priority
  /** Whoever wants the result. Jobs of the same owner run in their order. */
  owner: unknown
  /** Default: the job is a request of its own. */
  request?: JobRequest | undefined
}

/** When a request begins and ends if every owner has an equal share: the number of jobs that an owner who always asks has done by then. */
interface Turn {
  begin: number
  end: number
}

/** An owner who did not ask lately is this many jobs ahead of those who ask all the time: about as many as a question needs. */
const CREDIT = 16
/** While jobs wait, owners are forgotten when they no longer matter, after this many jobs. */
const FORGET_INTERVAL = 256

export class FairJobQueue<Job extends QueuedJob> {
  readonly #owners: Record<Priority, Map<unknown, Set<Job>>> = { high: new Map(), normal: new Map(), low: new Map() }
  readonly #turns = new WeakMap<JobRequest | Job, Turn>()
  /** The ends of the last urgent requests by owner. */
  readonly #ends = new Map<unknown, number>()
  /** The beginning of the turn that is being served. */
  #now = 0
  #addedJobs = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  add(job: Job): void {
    if (job.priority === 'high') this.#assignTurn(job)
    const owners = this.#owners[job.priority]
    const jobs = owners.get(job.owner)
    if (jobs) jobs.add(job)
    else owners.set(job.owner, new Set([job]))
    this.#size++
  }

  /** All jobs of a request have the turn of the first one. */
  #assignTurn(job: Job): void {
    const request = job.request ?? job
    if (this.#turns.has(request)) return
    const begin = Math.max(this.#now - CREDIT, this.#ends.get(job.owner) ?? Number.NEGATIVE_INFINITY)
    const end = begin + (job.request?.size ?? 1)
    this.#turns.set(request, { begin, end })
    this.#ends.set(job.owner, end)
    if (++this.#addedJobs % FORGET_INTERVAL > 0) return
    for (const [owner, last] of this.#ends) if (last <= this.#now - CREDIT) this.#ends.delete(owner)
  }

  #getTurn = (job: Job): Turn => this.#turns.get(job.request ?? job) as Turn

  /** Returns the next job, which stays in the queue. */
  peek(): Job | undefined {
    const owners = PRIORITIES.map((priority) => this.#owners[priority]).find(({ size }) => size > 0)
    if (!owners) return undefined
    return owners === this.#owners.high ? this.#findEarliest(owners) : owners.values().next().value?.values().next().value
  }

  #findEarliest(owners: ReadonlyMap<unknown, Set<Job>>): Job | undefined {
    let [earliest, found]: [number, Job | undefined] = [Number.POSITIVE_INFINITY, undefined]
    for (const jobs of owners.values()) {
      const job = jobs.values().next().value as Job
      const { end } = this.#getTurn(job)
      if (end < earliest) [earliest, found] = [end, job]
    }
    return found
  }

  /** Removes the next job. */
  take(): Job | undefined {
    const job = this.peek()
    if (!job) return undefined
    const owners = this.#owners[job.priority]
    const jobs = owners.get(job.owner) as Set<Job>
    this.delete(job)
    if (job.priority === 'high') this.#now = Math.max(this.#now, this.#getTurn(job).begin)
    // Its owner goes to the end of the line.
    else if (owners.delete(job.owner)) owners.set(job.owner, jobs)
    return job
  }

  delete(job: Job): boolean {
    const owners = this.#owners[job.priority]
    const jobs = owners.get(job.owner)
    if (!jobs?.delete(job)) return false
    if (jobs.size === 0) owners.delete(job.owner)
    // Nobody waits, so earlier requests delay nobody. If they still counted, all others could overtake whoever had asked slightly more.
    if (this.#owners.high.size === 0) this.#ends.clear()
    this.#size--
    return true
  }
}
