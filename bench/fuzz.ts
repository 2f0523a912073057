/** The fuzz campaign of the tests with a seed of the day; `BENCH_SEED=…` repeats one that found something. */
import { randomInt } from 'node:crypto'
import { runCampaign } from '../test/fuzz/campaign.ts'
import { TestServer } from '../test/harness/test-server.ts'
import type { Benchmark } from './support/figures.ts'

const REQUESTS = 10_000

export const fuzz: Benchmark = {
  name: 'fuzz',
  async run() {
    const seed = Number(process.env.BENCH_SEED ?? randomInt(2 ** 31))
    console.error(`seed ${seed}`)
    const service = await TestServer.start()
    try {
      const { requests, known, statuses, operations, succeeded } = await runCampaign(service, seed, REQUESTS)
      const refused = Object.entries(statuses).reduce((sum, [status, count]) => sum + (Number(status) < 300 ? 0 : count), 0)
      const figure = `${requests} sent, ${refused} refused, ${known} known ones right, ${succeeded} of ${operations} operations done`
      return [{ name: `fuzz, seed ${seed}`, figure }]
    } finally {
      await service.close()
    }
  },
}
