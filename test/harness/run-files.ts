/** Entry point of a test process: runs the given files one after another and prints the path of each before its output. */
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'

declare global {
  /** Lets uvu wait for `exec`. */
  var UVU_DEFER: boolean | undefined
  /** Suites that `exec` runs, after the name of their file. */
  var UVU_QUEUE: unknown[][] | undefined
}

// Most code of a test runs a few times. Optimizing it later saves a fifth of the CPU time; loops are still optimized.
// Later versions of Node have no such flag.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=1000000')
globalThis.UVU_DEFER = true
const { exec } = await import('uvu')
const environment = { ...process.env }

for (const file of process.argv.slice(2)) {
  globalThis.UVU_QUEUE = [[null]]
  process.stdout.write(`\n${file}\n`)
  await import(pathToFileURL(file).href)
  await exec()
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
}
