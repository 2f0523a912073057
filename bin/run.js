#!/usr/bin/env node
/** Starts the CLI from the bundle; --version and completion are answered before all of it is loaded. */
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'

const [first] = process.argv.slice(2)
if (first === '--version' || first === '-v') {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  console.log(`cadre/${version} ${process.platform}-${process.arch} node-${process.version}`)
} else if (!existsSync(new URL('../dist/main.js', import.meta.url))) {
  console.error('Error: Cadre is not built, dist/main.js is missing.')
  console.error('To install the dependencies and build it: npm ci')
  console.error('If they are installed: npm run build')
  process.exitCode = 1
} else {
  // Node 22 and later cache compiled code between runs, which halves the startup time.
  module.enableCompileCache?.()
  if (first === '__complete') {
    const { runCompletion } = await import('../dist/complete.js')
    await runCompletion(process.argv.slice(3))
  } else {
    const { main } = await import('../dist/main.js')
    await main()
  }
}
