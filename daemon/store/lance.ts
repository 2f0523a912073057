/** Loads LanceDB and opens connections with bounded caches. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection, ConnectionOptions } from '@lancedb/lancedb'
import { configureLance } from '../../src/config.ts'
import { CATALOG_FOLDER } from './files/table-files.ts'

export type { Table } from '@lancedb/lancedb'

export interface LanceConnection {
  lancedb: typeof import('@lancedb/lancedb')
  database: Connection
}

/** The default caches grow to 7 GB. LanceDB counts the vectors of an index twice. */
const INDEX_CACHE_BYTES = 512n * 1024n * 1024n
const METADATA_CACHE_BYTES = 64n * 1024n * 1024n

/** LanceDB 0.30 panics if its catalog is damaged, and creates a missing one from the folders of the tables. */
const CATALOG_DAMAGE = /^Panic in async function/

export interface LanceOptions {
  /** Of object storage. */
  storageOptions?: Record<string, string>
  /** Of LanceDB Cloud and Enterprise (`db://`). */
  apiKey?: string | undefined
  region?: string | undefined
  hostOverride?: string | undefined
  /** Seconds after which queries look for commits of other daemons. */
  readConsistencyInterval?: number
  /** Replaces connect(), for tests. */
  connect?: LanceConnection['lancedb']['connect']
}

export async function openLance(uri: string, { connect, ...options }: LanceOptions = {}): Promise<LanceConnection> {
  configureLance()
  const lancedb = await import('@lancedb/lancedb')
  // Passed as an option: LanceDB 0.30 ignores a session passed as an argument. LanceDB Cloud has caches of its own.
  const open = () => {
    const session = isManaged(uri) ? {} : { session: new lancedb.Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES) }
    return (connect ?? lancedb.connect)(uri, { ...options, ...session } as Partial<ConnectionOptions>)
  }
  try {
    const database = await open()
    await database.tableNames()
    return { lancedb, database }
  } catch (error) {
    if (!CATALOG_DAMAGE.test((error as Error).message) || isRemote(uri)) throw error
    await rm(join(uri, CATALOG_FOLDER), { recursive: true, force: true })
    return { lancedb, database: await open() }
  }
}

/** Whether the tables are in a bucket or on a server of LanceDB, which several daemons use. */
export const isRemote = (uri: string): boolean => uri.includes('://')

/** Whether a server of LanceDB builds the indexes and removes old versions. */
export const isManaged = (uri: string): boolean => uri.startsWith('db://')
