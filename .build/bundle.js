/** Bundles the command line and the daemon into dist/: one file a command, so that only what is asked for is loaded. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { tsImport } from 'tsx/esm/api'
import { writeManifest } from './manifest.js'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Built aside and moved when it is whole, so that what runs from dist/ meanwhile is not pulled apart. */
const aside = `${root}node_modules/.cache/cadre-build-${process.pid}`
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

/** Bundled CommonJS asks for Node's modules through `require`, which ES modules do not have. */
const banner = { js: "import{createRequire as cadreRequire}from'node:module';const require=cadreRequire(import.meta.url);" }

/** @type {import('esbuild').BuildOptions} */
const shared = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  // Names are not shortened, so they need no keeping: each kept one is a call, 12 ms of a command's start and a sixth of a GET.
  keepNames: false,
  legalComments: 'none',
  logLevel: 'warning',
  define: { CADRE_VERSION: JSON.stringify(version) },
  banner,
  outdir: aside,
  chunkNames: 'chunks/[name]-[hash]',
}

/**
 * Undici is CommonJS and loaded when it is first needed. What esbuild 0.28 makes of such an import has nothing but a
 * default, while in Node it has all its names; they are spelled out here, so that both are the same.
 */
const undiciByName = {
  name: 'undici-by-name',
  /** @param {import('esbuild').PluginBuild} bundler */
  setup(bundler) {
    bundler.onResolve({ filter: /^undici$/ }, ({ kind }) => (kind === 'dynamic-import' ? { path: 'undici', namespace: 'by-name' } : undefined))
    bundler.onLoad({ filter: /^undici$/, namespace: 'by-name' }, () => {
      const names = Object.keys(createRequire(import.meta.url)('undici')).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name))
      return { contents: `import undici from 'undici'; export const { ${names.join(', ')} } = undici; export default undici`, resolveDir: root }
    })
  },
}

/** Native modules, modules that read files beside themselves, and modules that start workers stay where they are. */
const EXTERNAL = ['libsql', '@lancedb/lancedb', 'apache-arrow', 'keytar', '@fastify/swagger', '@fastify/swagger-ui', 'onnxruntime-node', 'thread-stream']

/** Where DEV is set, Ink looks for its developers' tools, and for files that a bundle has not. */
const withoutInkTools = {
  name: 'without-ink-tools',
  /** @param {import('esbuild').PluginBuild} build */
  setup(build) {
    build.onLoad({ filter: /node_modules\/ink\/build\/utils\.js$/ }, () => ({ contents: 'export const isDev = () => false' }))
    build.onLoad({ filter: /node_modules\/ink\/build\/devtools\.js$/ }, () => ({ contents: '' }))
  },
}

const commands = readdirSync(`${root}commands`, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort()

mkdirSync(aside, { recursive: true })
await build({
  ...shared,
  // React decides by NODE_ENV whether it checks everything for its developers. Ink draws nothing where CI is set, but whoever opens a chat sits at a terminal.
  define: { ...shared.define, 'process.env.NODE_ENV': '"production"' },
  plugins: [withoutInkTools],
  alias: { 'is-in-ci': './.build/not-in-ci.js' },
  external: ['keytar'],
  entryPoints: [
    { in: 'src/cli/main.ts', out: 'main' },
    { in: 'src/cli/help.ts', out: 'help' },
    { in: 'src/cli/command-not-found.ts', out: 'command-not-found' },
    ...commands.map((file) => ({ in: `commands/${file}`, out: `commands/${file.replace(/\.ts$/, '')}` })),
  ],
})
await build({
  ...shared,
  external: EXTERNAL,
  plugins: [undiciByName],
  outdir: `${aside}/daemon`,
  entryPoints: [
    { in: 'daemon/main.ts', out: 'main' },
    { in: 'daemon/embedding/worker.ts', out: 'embedding/worker' },
    { in: 'daemon/knowledge/reading-worker.ts', out: 'knowledge/reading-worker' },
    { in: 'daemon/api-tools/openapi/worker.ts', out: 'api-tools/openapi-worker' },
  ],
})
// The model takes seconds to write and seldom changes: the one that is there is kept while it is made of the same parts.
if (existsSync(`${root}dist/models`)) cpSync(`${root}dist/models`, `${aside}/models`, { recursive: true })
const { writeMinilm } = await tsImport('./minilm.ts', import.meta.url)
writeMinilm(`${aside}/models`)
rmSync(`${root}dist`, { recursive: true, force: true })
renameSync(aside, `${root}dist`)
await writeManifest(root)
