/** Attacks three daemons on a libSQL server and a bucket with kills and outages. Exits with 1 if a promise is broken. */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { runChaos } from './run-chaos.ts'

const MAX_PRINTED = 40
const USAGE = `Usage: npm run chaos -- [--minutes N] [--seed N] [--logs FOLDER]

  --minutes N   how long daemons are killed (default: 5)
  --seed N      repeat the random choices of another run
  --logs FOLDER keep the logs of the daemons`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    logs: { type: 'string' },
  },
})
const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
if (!(minutes > 0) || !Number.isInteger(seed)) {
  console.error(USAGE)
  process.exit(2)
}

const startedAt = performance.now()
const report = (line: string) => console.error(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}`)
report(`seed ${seed}`)
const { amount, figure, violations } = await runChaos({ minutes, seed, report, logs: values.logs })
for (const violation of violations.slice(0, MAX_PRINTED)) console.error(`  ${violation.slice(0, 1_000)}`)
if (violations.length > MAX_PRINTED) console.error(`  and ${violations.length - MAX_PRINTED} more`)
console.log(`${amount}: ${figure}`)
console.log(violations.length === 0 ? 'Every promise was kept.' : `${violations.length} promises were broken.`)
// Connections of a failed run must not keep the process alive.
process.exit(violations.length > 0 ? 1 : 0)
