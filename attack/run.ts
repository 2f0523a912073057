/** Runs all attack scenarios or the named ones and prints one table. Exits with 1 if a promise is broken. */
import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SCENARIOS } from './scenarios.ts'
import { formatMarkdownRows, formatTable, updateRows } from './support/format-table.ts'
import { runScenarios } from './support/lanes/run-scenarios.ts'

const PROMISES = fileURLToPath(new URL('../docs/promises.md', import.meta.url))
/** Broken promises of a scenario that are printed. */
const MAX_PRINTED = 20
const USAGE = `Usage: npm run attack -- [NAME…] [--scale N] [--seed N] [--update] [--list]

  --scale N   multiply all amounts, such as 0.05 for a quick run (default: 1)
  --seed N    repeat the random choices of another run
  --update    write the results to docs/promises.md
  --list      print the names of the scenarios`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scale: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    update: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const [scale, seed] = [Number(values.scale), Number(values.seed)]
const unknown = positionals.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name))
if (unknown.length > 0 || !(scale > 0) || !Number.isInteger(seed)) {
  if (unknown.length > 0) console.error(`Unknown scenario: ${unknown.join(', ')}.`)
  console.error(USAGE)
  process.exit(2)
}
if (values.list) {
  for (const { name, promise } of SCENARIOS) console.log(`${name.padEnd(20)} ${promise}`)
  process.exit(0)
}

const startedAt = performance.now()
const chosen = SCENARIOS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const results = await runScenarios(chosen, { scale, seed }, ({ name, seconds, violations }) => {
  console.error(`${name}: ${violations.length === 0 ? 'ended' : 'broken'} after ${Math.round(seconds)} s`)
  for (const violation of violations.slice(0, MAX_PRINTED)) console.error(`  ${violation.slice(0, 1_000)}`)
  if (violations.length > MAX_PRINTED) console.error(`  and ${violations.length - MAX_PRINTED} more`)
})
const date = new Date().toISOString().slice(0, 10)
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
console.log(formatTable(results))
console.log(`\n${date}, Node ${process.version}, ${process.platform}, scale ${scale}, seed ${seed}, ${minutes} minutes`)
if (values.update) writeFileSync(PROMISES, updateRows(readFileSync(PROMISES, 'utf8'), formatMarkdownRows(results, date)))
process.exitCode = results.some(({ violations }) => violations.length > 0) ? 1 : 0
