#!/usr/bin/env node
/** Runs the command line from source, without a build. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Plugin } from '@oclif/core/config'
import { settings } from '@oclif/core/settings'
import { register } from 'tsx/esm/api'

register()
const root = fileURLToPath(new URL('..', import.meta.url))
const pjson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const { main } = await import('../src/cli/oclif/main.ts')
settings.enableAutoTranspile = false
Object.assign(pjson.oclif, {
  commands: './commands',
  helpClass: { target: './src/cli/oclif/help.ts', identifier: 'CadreHelp' },
  hooks: { command_not_found: { target: './src/cli/oclif/command-not-found.ts', identifier: 'commandNotFound' } },
})
// oclif.manifest.json refers to the bundle.
const plugin = new Plugin({ root, pjson, type: 'core', isRoot: true, ignoreManifest: true, errorOnManifestCreate: true })
await plugin.load()
await main({ root, plugins: [plugin] })
