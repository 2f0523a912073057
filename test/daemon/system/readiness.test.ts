import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type SystemDependencies, SystemService } from '../../../daemon/system/service.ts'

const test = suite('readiness')

test('probes at the same time check the stores once', async () => {
  let reads = 0
  const all = async () => {
    reads++
    return []
  }
  const database = { all, isDamaged: () => false }
  const system = new SystemService({ database, vectors: { ping: async () => undefined } } as unknown as SystemDependencies)
  const probes = await Promise.all(Array.from({ length: 100 }, () => system.getReadiness()))
  assert.equal(new Set(probes.map(({ status }) => status)), new Set(['ready']))
  assert.is(reads, 1)
  assert.is((await system.getHealth()).status, 'healthy')
  assert.is(reads, 2)
})

test.run()
