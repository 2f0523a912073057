#!/usr/bin/env node
/** Starts the CLI from the bundle; --version is answered before the bundle is loaded. */
import { readFileSync } from 'node:fs'
import module from 'node:module'

const [first] = process.argv.slice(2)
if (first === '--version' || first === '-v') {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  console.log(`cadre/${version} ${process.platform}-${process.arch} node-${process.version}`)
} else {
  // Node 22 and later cache compiled code between runs, which halves the startup time.
  module.enableCompileCache?.()
  const { main } = await import('../dist/main.js')
  await main()
}
