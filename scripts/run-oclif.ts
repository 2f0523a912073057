/** Runs oclif, which writes the manifest and the command reference from the build. */
import { execFileSync } from 'node:child_process'
import { ROOT } from './external.ts'

export function runOclif(words: readonly string[]): void {
  execFileSync(process.execPath, [`${ROOT}node_modules/oclif/bin/run.js`, ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // The same on every machine, and without a request to the registry.
    env: { ...process.env, OCLIF_COLUMNS: '100', OCLIF_SKIP_NEW_VERSION_CHECK: 'true', NO_COLOR: '1' },
  })
}
