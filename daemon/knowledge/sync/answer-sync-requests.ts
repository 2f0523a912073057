/** Answers other daemons that ask for changes to the syncs of this one. */
import type { DaemonRequests } from '../../cluster/cluster.ts'
import type { Database } from '../../store/database.ts'
import { sourceRecords } from '../store.ts'
import { SYNC_REQUESTS, type SyncLeases } from './sync-leases.ts'
import type { SyncTriggers } from './sync-triggers.ts'
import type { Synchronizer, SyncScope } from './synchronizer.ts'

interface SyncServices {
  database: Database
  syncLeases: SyncLeases
  synchronizer: Synchronizer
  triggers: SyncTriggers
}

export function answerSyncRequests(requests: DaemonRequests, { database, syncLeases, synchronizer, triggers }: SyncServices): void {
  requests.handle(SYNC_REQUESTS.start, async ({ target, data }) => {
    await synchronizer.start(target, data as SyncScope)
    await syncLeases.storeState(target) // the other daemon may wait for the end
  })
  requests.handle(SYNC_REQUESTS.cancel, ({ target }) => synchronizer.cancel(target))
  requests.handle(SYNC_REQUESTS.forget, async ({ target }) => {
    triggers.unregister(target)
    await synchronizer.forgetSource(target)
  })
  requests.handle(SYNC_REQUESTS.configure, async ({ target }) => {
    const source = await sourceRecords.get(database, target)
    if (source) triggers.register(source)
  })
}
