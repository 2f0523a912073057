/** Joins the daemons of a database. */
import type { Database } from '../store/database.ts'
import type { Cluster, ClusterLog } from './cluster.ts'
import { createSingleDaemon } from './single-daemon.ts'

/** Must be called before the daemon does any work, so that others see it. */
export async function openCluster(database: Database, logger: ClusterLog): Promise<Cluster> {
  if (database.daemonId === null) return createSingleDaemon(database)
  // Loaded only if it is used.
  const { ServerCluster } = await import('./server-cluster.ts')
  return ServerCluster.open(database, database.daemonId, logger)
}
