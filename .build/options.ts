/** How Cadre is bundled: what the product's build and the tests' have in common. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

/** Bundled CommonJS asks for Node's modules through `require`, which ES modules do not have. */
const banner = { js: "import{createRequire as cadreRequire}from'node:module';const require=cadreRequire(import.meta.url);" }

const shared = {
  absWorkingDir: ROOT,
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
  chunkNames: 'chunks/[name]-[hash]',
} satisfies BuildOptions

/**
 * Undici is CommonJS and loaded when it is first needed. What esbuild 0.28 makes of such an import has nothing but a
 * default, while in Node it has all its names; they are spelled out here, so that both are the same.
 */
const undiciByName: Plugin = {
  name: 'undici-by-name',
  setup(bundler) {
    bundler.onResolve({ filter: /^undici$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: 'undici', namespace: 'by-name' } : undefined,
    )
    bundler.onLoad({ filter: /^undici$/, namespace: 'by-name' }, () => {
      const names = Object.keys(createRequire(import.meta.url)('undici')).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name))
      return {
        contents: `import undici from 'undici'; export const { ${names.join(', ')} } = undici; export default undici`,
        resolveDir: ROOT,
      }
    })
  },
}

/** Native modules, modules that read files beside themselves, and modules that start workers stay where they are. */
const EXTERNAL = [
  'libsql',
  '@lancedb/lancedb',
  'apache-arrow',
  'keytar',
  '@fastify/swagger',
  '@fastify/swagger-ui',
  'onnxruntime-node',
  'thread-stream',
]

/** Where DEV is set, Ink looks for its developers' tools, and for files that a bundle has not. */
const withoutInkTools: Plugin = {
  name: 'without-ink-tools',
  setup(build) {
    build.onLoad({ filter: /node_modules\/ink\/build\/utils\.js$/ }, () => ({ contents: 'export const isDev = () => false' }))
    build.onLoad({ filter: /node_modules\/ink\/build\/devtools\.js$/ }, () => ({ contents: '' }))
  },
}

/**
 * What a terminal shows. React decides by NODE_ENV whether it checks everything for its developers. Ink draws nothing
 * where CI is set, but whoever opens a chat sits at a terminal.
 */
export const cliBuild = {
  ...shared,
  define: { ...shared.define, 'process.env.NODE_ENV': '"production"' },
  plugins: [withoutInkTools],
  alias: { 'is-in-ci': './.build/not-in-ci.js' },
  external: ['keytar'],
} satisfies BuildOptions

export const daemonBuild = { ...shared, external: EXTERNAL, plugins: [undiciByName] } satisfies BuildOptions
