/** Writes oclif.manifest.json: what oclif needs to know of every command without loading it. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Plugin } from '@oclif/core/config'
import { settings } from '@oclif/core/settings'

/** For the package in a folder, with a fresh dist/ in it. */
export async function writeManifest(root: string): Promise<void> {
  const file = join(root, 'oclif.manifest.json')
  rmSync(file, { force: true })
  settings.enableAutoTranspile = false
  const plugin = new Plugin({ root, type: 'core', isRoot: true, ignoreManifest: true, errorOnManifestCreate: true })
  await plugin.load()
  writeFileSync(file, JSON.stringify(plugin.manifest))
}
