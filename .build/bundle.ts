/** Bundles the command line and the daemon into dist/, with one file per command, so that a command loads only its own code. */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { build } from 'esbuild'
import { writeModels } from './embedded-models.ts'
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
    { in: 'daemon/embedded-models/worker.ts', out: 'embedded-models/worker' },
    { in: 'daemon/knowledge/sync/parser-worker.ts', out: 'knowledge/parser-worker' },
    { in: 'daemon/api-tools/openapi/worker.ts', out: 'api-tools/openapi-worker' },
    { in: 'daemon/system/backup/worker.ts', out: 'system/backup-worker' },
    { in: 'daemon/store/indices/index-builder.ts', out: 'store/index-builder' },
  ],
})
// Reused if it is up to date, because writing the models takes seconds.
if (existsSync(`${ROOT}dist/models`)) cpSync(`${ROOT}dist/models`, `${buildDirectory}/models`, { recursive: true })
writeModels(`${buildDirectory}/models`)
copyRuntimeFiles(buildDirectory)
writeLicenses(`${buildDirectory}/LICENSES.txt`, [cli.metafile, daemon.metafile])
rmSync(`${ROOT}dist`, { recursive: true, force: true })
renameSync(buildDirectory, `${ROOT}dist`)
// Describes every command, so that the command line does not load them to find one.
runOclif(['manifest', ROOT])
