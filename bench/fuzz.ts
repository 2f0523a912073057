/** The fuzz campaign of the tests with a random seed; `BENCH_SEED=…` repeats one. */
import { randomInt } from 'node:crypto'
import { runCampaign, startServer } from '../test/fuzz/campaign.ts'
import type { Benchmark } from './support/figures.ts'

const REQUESTS = 10_000

export const fuzz: Benchmark = {
  name: 'fuzz',
  async run() {
    const seed = Number(process.env.BENCH_SEED ?? randomInt(2 ** 31))
    console.error(`seed ${seed}`)
    const service = await startServer()
    try {
      const { requests, known, statuses, operations, succeeded } = await runCampaign(service, seed, REQUESTS)
      const rejected = Object.entries(statuses).reduce((sum, [status, count]) => sum + (Number(status) < 300 ? 0 : count), 0)
      const figure = `${requests} requests, ${rejected} rejected, ${succeeded} of ${operations} operations succeeded, ${known} checks`
      return [{ name: `fuzz, seed ${seed}`, figure }]
    } finally {
      await service.close()
    }
  },
}
