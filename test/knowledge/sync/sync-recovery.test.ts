import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SyncRecovery } from '../../../daemon/knowledge/sync/recovery/sync-recovery.ts'

const test = suite('recovery of syncs')

test('the repair of indexes begins before anything else can start a sync', async () => {
  const repaired: ReadonlySet<string>[] = []
  const recovery = new SyncRecovery({
    syncLeases: { claimAbandoned: async () => new Set(['ks_1']) },
    resumes: { park: async () => undefined },
    repair: {
      run: async (sourceIds: ReadonlySet<string>) => {
        repaired.push(sourceIds)
        return new Set<string>()
      },
    },
    database: { all: () => new Promise(() => {}) },
    synchronizer: {},
  } as unknown as ConstructorParameters<typeof SyncRecovery>[0])
  const claimed = await recovery.takeOver()
  void recovery.resume()
  assert.equal(repaired, [claimed])
})

test.run()
