/** Bundles the command line and the daemon into dist/: one file a command, so that only what is asked for is loaded. */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { build } from 'esbuild'
import { writeManifest } from './manifest.ts'
import { writeMinilm } from './minilm.ts'
import { cliBuild, daemonBuild, ROOT } from './options.ts'

/** Built aside and moved when it is whole, so that what runs from dist/ meanwhile is not pulled apart. */
const aside = `${ROOT}node_modules/.cache/cadre-build-${process.pid}`

const commands = readdirSync(`${ROOT}commands`, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort()

mkdirSync(aside, { recursive: true })
await build({
  ...cliBuild,
  outdir: aside,
  entryPoints: [
    { in: 'src/cli/oclif/main.ts', out: 'main' },
    { in: 'src/cli/oclif/help.ts', out: 'help' },
    { in: 'src/cli/oclif/command-not-found.ts', out: 'command-not-found' },
    ...commands.map((file) => ({ in: `commands/${file}`, out: `commands/${file.replace(/\.ts$/, '')}` })),
  ],
})
await build({
  ...daemonBuild,
  outdir: `${aside}/daemon`,
  entryPoints: [
    { in: 'daemon/main.ts', out: 'main' },
    { in: 'daemon/embedding/worker.ts', out: 'embedding/worker' },
    { in: 'daemon/knowledge/sync/parser-worker.ts', out: 'knowledge/parser-worker' },
    { in: 'daemon/api-tools/openapi/worker.ts', out: 'api-tools/openapi-worker' },
  ],
})
// The model takes seconds to write and seldom changes: the one that is there is kept while it is made of the same parts.
if (existsSync(`${ROOT}dist/models`)) cpSync(`${ROOT}dist/models`, `${aside}/models`, { recursive: true })
writeMinilm(`${aside}/models`)
rmSync(`${ROOT}dist`, { recursive: true, force: true })
renameSync(aside, `${ROOT}dist`)
await writeManifest(ROOT)
