/**
 * Runs commands of the build one after another, for tests: loading the command line takes most of the 0.25 s of CPU time of
 * a command. A command starts with its own arguments, input, environment and directory, and ends when a process would:
 * when nothing keeps it running. If it exits, this process does too.
 */
import { globalAgent } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { main } from '../../../dist/main.js'

/** The output of the command on both streams, in its order. */
let written = ''
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream)
  stream.write = (text, ...rest) => {
    written += typeof text === 'string' ? text : Buffer.from(text)
    return write(text, ...rest)
  }
}

const countResources = () => process.getActiveResourcesInfo().length

function replaceEnvironment(environment) {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
}

async function runCommand({ script, words, input = '', environment, cwd }) {
  process.chdir(cwd)
  process.argv = [process.execPath, script, ...words]
  replaceEnvironment(environment)
  Object.defineProperty(process, 'stdin', {
    configurable: true,
    value: Readable.from(input === '' ? [] : [Buffer.from(input)], { objectMode: false }),
  })
  process.exitCode = undefined
  written = ''
  const idle = countResources()
  await main()
  while (countResources() > idle) await sleep(1)
  // A process would close its connections.
  globalAgent.destroy()
  process.removeAllListeners('SIGINT')
  return process.exitCode ?? 0
}

process.on('disconnect', () => process.exit())
process.on('message', async ({ end, ...command }) => {
  const code = await runCommand(command)
  const result = JSON.stringify({ code, written })
  process.stdout.write(`${end}${result}\n`)
  process.stderr.write(`${end}\n`)
})
