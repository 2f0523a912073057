/** Writes oclif.manifest.json, which describes every command, so that oclif does not load them. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Plugin } from '@oclif/core/config'
import { settings } from '@oclif/core/settings'

/** @param root the package's folder, with a current dist/ */
export async function writeManifest(root: string): Promise<void> {
  const file = join(root, 'oclif.manifest.json')
  rmSync(file, { force: true })
  settings.enableAutoTranspile = false
  const plugin = new Plugin({ root, type: 'core', isRoot: true, ignoreManifest: true, errorOnManifestCreate: true })
  await plugin.load()
  writeFileSync(file, JSON.stringify(plugin.manifest))
}
