/** What the daemons of a database need from each other. A single daemon implements it without any work. */
import type { DatabaseReader, Transaction, Value } from '../store/database.ts'

export interface Cluster {
  readonly leases: Leases
  readonly states: LeaseStates
  readonly requests: DaemonRequests
  /** How long a record may be cached: other daemons can change it. */
  readonly maxCacheAgeMs: number
  /** Resolves when no daemon uses a record that it cached before. */
  waitForCaches(): Promise<void>
  /** Calls the listener regularly, because other daemons may have changed the records. Returns a function that stops it. */
  poll(intervalMs: number, listener: () => void): () => void
  /** Lists the other live daemons in the column `owner` of a query. */
  listOwners(reader: DatabaseReader, query: string, values: readonly Value[]): Promise<string[]>
  /** Lists the ids of all daemons that have not ended. */
  listDaemons(): Promise<Set<string>>
  /** Adds up the counts of all daemons. */
  shareCounts(counts: SharedCounts): void
  close(): Promise<void>
}

/** Which daemon does a piece of work. A lease ends with its daemon, however that ends. */
export interface Leases {
  /**
   * Returns the fence of the lease: a number that rises with each new holder. Returns undefined if another daemon holds it; a daemon
   * that holds it already gets it again. In the transaction of the work that it protects, if possible.
   */
  claim(name: string, transaction?: Transaction): Promise<number | undefined>
  /**
   * Whether no other daemon has claimed the lease since this one got the fence. Work outside of the database, such as an index, is
   * published in a transaction that checks it.
   */
  holds(transaction: Transaction, name: string, fence: number): Promise<boolean>
  /** Claims those of the leases that no live daemon holds, and returns their names. `names` is a query. */
  claimAbandoned(names: string): Promise<string[]>
  /** For work that is not repeated under this name: nothing of the lease remains, so its next fence is 1 again. */
  release(name: string): Promise<void>
  /** Like `release`, also if another daemon holds the lease. */
  remove(name: string): Promise<void>
  /** The live daemon that holds the lease, if it is another one. */
  findHolder(name: string): Promise<string | undefined>
  /** The same number as long as no lease of this daemon can have expired; undefined if they may have. */
  readonly term: number | undefined
  /** Calls the listeners regularly, in this order, so that they take over the work of daemons that ended. */
  onTakeover(...listeners: (() => Promise<void>)[]): void
}

/** What the holder of a lease tells the other daemons about its work. */
export interface LeaseStates {
  /** Stores the state now. */
  store(name: string): Promise<void>
  /** Stores the state soon, together with further changes. */
  announce(name: string): void
  /** Returns the last state, if another daemon stored it. */
  read<T>(reader: DatabaseReader, name: string): Promise<T | undefined>
  /** Sets how states of these leases are read, and what happens if another daemon has taken over a lease. */
  provide(getState: (name: string) => unknown, onLost: (name: string) => void): void
}

export interface DaemonRequest {
  /** Identifies the daemon that asks. */
  sender: string
  /** What the request is about, such as the id of a reply. */
  target: string
  data: unknown
}

export type RequestHandler = (request: DaemonRequest) => Promise<unknown>

/** Requests to another daemon, for work that only that daemon can do. */
export interface DaemonRequests {
  handle(kind: string, handler: RequestHandler): void
  /** Returns the response, or throws the error of the other daemon. Throws UNAVAILABLE if that daemon has ended. */
  send<T>(receiver: string, kind: string, target: string, data?: unknown): Promise<T>
}

/** Counts per key in a window of time. */
export interface SharedCounts {
  readonly windowMs: number
  /** Returns what other daemons do not know yet, and counts it as reported. */
  takeUnreported(): { key: string; count: number }[]
  /** Sets what all daemons have reported for the window of a key, and when it ends. */
  setReported(key: string, total: number, leftMs: number): void
}

export interface ClusterLog {
  warn(details: object, message: string): void
}
