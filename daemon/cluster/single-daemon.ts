/** The cluster of a daemon whose records are in a file: it holds everything and has nobody to tell. */
import { type Database, listColumn } from '../store/database.ts'
import type { Cluster } from './cluster.ts'

const FENCE = 1

export const createSingleDaemon = (database: Database): Cluster => ({
  leases: {
    claim: async () => FENCE,
    holds: async () => true,
    claimAbandoned: (names) => listColumn(database, names),
    release: async () => undefined,
    remove: async () => undefined,
    findHolder: async () => undefined,
    term: 1,
    onTakeover() {},
  },
  states: {
    store: async () => undefined,
    announce() {},
    read: async () => undefined,
    provide() {},
  },
  requests: {
    handle() {},
    send: async () => {
      throw new Error('There is no other daemon.')
    },
  },
  maxCacheAgeMs: Number.POSITIVE_INFINITY,
  waitForCaches: async () => undefined,
  poll: () => () => undefined,
  listOwners: async () => [],
  listDaemons: async () => new Set(),
  shareCounts() {},
  close: async () => undefined,
})
