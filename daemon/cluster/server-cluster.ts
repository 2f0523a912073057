/** The cluster of the daemons whose records are on a libSQL server. Everything between them travels through its tables. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Database, type DatabaseReader, listColumn, type Value } from '../store/database.ts'
import type { Cluster, ClusterLog, SharedCounts } from './cluster.ts'
import { exchangeCounts } from './server-counts.ts'
import { ServerLeaseStates } from './server-lease-states.ts'
import { ServerLeases } from './server-leases.ts'
import { ServerRequests } from './server-requests.ts'

export class ServerCluster implements Cluster {
  readonly leases: ServerLeases
  readonly states: ServerLeaseStates
  readonly requests: ServerRequests
  readonly maxCacheAgeMs = 1_000
  readonly #database: Database
  readonly #daemonId: string
  readonly #logger: ClusterLog
  readonly #endExchanges: (() => Promise<void>)[] = []

  private constructor(database: Database, daemonId: string, logger: ClusterLog) {
    this.#database = database
    this.#daemonId = daemonId
    this.#logger = logger
    this.leases = new ServerLeases(database, daemonId, logger)
    this.states = new ServerLeaseStates(database, daemonId, logger)
    this.requests = new ServerRequests(database, daemonId, logger)
  }

  static async open(database: Database, daemonId: string, logger: ClusterLog): Promise<ServerCluster> {
    const cluster = new ServerCluster(database, daemonId, logger)
    await cluster.leases.start()
    cluster.requests.start()
    return cluster
  }

  waitForCaches(): Promise<void> {
    return pause(this.maxCacheAgeMs)
  }

  poll(intervalMs: number, listener: () => void): () => void {
    const timer = setInterval(listener, intervalMs).unref()
    return () => clearInterval(timer)
  }

  listOwners(reader: DatabaseReader, query: string, values: readonly Value[]): Promise<string[]> {
    const sql = `SELECT DISTINCT owner FROM (${query}) WHERE owner <> ? AND owner IN (SELECT id FROM live_daemons)`
    return listColumn(reader, sql, [...values, this.#daemonId])
  }

  async listDaemons(): Promise<Set<string>> {
    return new Set(await listColumn(this.#database, 'SELECT id FROM live_daemons'))
  }

  shareCounts(counts: SharedCounts): void {
    this.#endExchanges.push(exchangeCounts(this.#database, counts, this.#logger))
  }

  async close(): Promise<void> {
    await Promise.all([this.requests.close(), ...this.#endExchanges.map((end) => end())])
    await this.leases.close()
  }
}
