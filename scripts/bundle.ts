/** Bundles the command line and the daemon into dist/, with one file per command, so that a command loads only its own code. */
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { build } from 'esbuild'
import { ROOT } from './external.ts'
import { writeLicenses } from './licenses.ts'
import { cliBuild, daemonBuild } from './options.ts'
import { runOclif } from './run-oclif.ts'
import { copyRuntimeFiles } from './runtime-files.ts'

/** dist/ is replaced by a complete build, because commands and daemons may be running from it. */
const buildDirectory = `${ROOT}node_modules/.cache/cadre-build-${process.pid}`

const commands = readdirSync(`${ROOT}commands`, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort()

mkdirSync(buildDirectory, { recursive: true })
const cli = await build({
  ...cliBuild,
  outdir: buildDirectory,
  entryPoints: [
    { in: 'src/cli/oclif/main.ts', out: 'main' },
    { in: 'src/cli/completion/main.ts', out: 'complete' },
    { in: 'src/cli/oclif/help.ts', out: 'help' },
    { in: 'src/cli/oclif/command-not-found.ts', out: 'command-not-found' },
    ...commands.map((file) => ({ in: `commands/${file}`, out: `commands/${file.replace(/\.ts$/, '')}` })),
  ],
})
const daemon = await build({
  ...daemonBuild,
  outdir: `${buildDirectory}/daemon`,
  entryPoints: [
    { in: 'daemon/main.ts', out: 'main' },
    { in: 'daemon/inference/worker.ts', out: 'inference/worker' },
    { in: 'daemon/knowledge/sync/parser-worker.ts', out: 'knowledge/parser-worker' },
    { in: 'daemon/knowledge/tables/table-worker.ts', out: 'knowledge/table-worker' },
    { in: 'daemon/knowledge/recognition/recognition-worker.ts', out: 'knowledge/recognition-worker' },
    { in: 'daemon/api-tools/openapi/worker.ts', out: 'api-tools/openapi-worker' },
    { in: 'daemon/evaluations/patterns/pattern-worker.ts', out: 'evaluations/pattern-worker' },
    { in: 'daemon/system/backup/worker.ts', out: 'system/backup-worker' },
    { in: 'daemon/store/table-indexes/index-builder.ts', out: 'store/index-builder' },
  ],
})
cpSync(`${ROOT}models`, `${buildDirectory}/models`, { recursive: true })
copyRuntimeFiles(buildDirectory)
writeLicenses(`${buildDirectory}/LICENSES.txt`, [cli.metafile, daemon.metafile])
rmSync(`${ROOT}dist`, { recursive: true, force: true })
renameSync(buildDirectory, `${ROOT}dist`)
// Describes every command, so that the command line does not load them to find one.
runOclif(['manifest', ROOT])
