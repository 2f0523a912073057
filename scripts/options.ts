/** Build options of the product and the tests. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BuildOptions, Plugin } from 'esbuild'
import { EXTERNAL, EXTERNAL_BINARIES, ROOT } from './external.ts'

const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

/** Bundled CommonJS loads Node's modules with `require`, which ES modules do not have. */
const banner = { js: "import{createRequire as cadreRequire}from'node:module';const require=cadreRequire(import.meta.url);" }

const shared = {
  absWorkingDir: ROOT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  // Names are not minified. Keeping them adds a call for each: 12 ms to a command's start and a sixth to a GET request.
  keepNames: false,
  // Licenses are collected in dist/LICENSES.txt.
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  define: { CADRE_VERSION: JSON.stringify(version) },
  banner,
  chunkNames: 'chunks/[name]-[hash]',
} satisfies BuildOptions

/**
 * CommonJS packages that are imported dynamically. With esbuild 0.28 such an import has only a default export, while in Node it
 * has named exports too; this plugin adds them.
 */
const namedExports: Plugin = {
  name: 'named-exports',
  setup(bundler) {
    const filter = /^(undici|@lancedb\/lancedb)$/
    bundler.onResolve({ filter }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, namespace: 'named-exports' } : undefined))
    bundler.onLoad({ filter, namespace: 'named-exports' }, ({ path }) => {
      const names = Object.keys(createRequire(import.meta.url)(path)).filter((name) => /^(?!default$)[A-Za-z_$][\w$]*$/.test(name))
      const contents = `import * as all from '${path}'; export const { ${names.join(', ')} } = all`
      return { contents, resolveDir: ROOT }
    })
  },
}

/** The binaries of onnxruntime-node are in dist/onnxruntime (runtime-files.ts). */
const onnxruntimeBinaries: Plugin = {
  name: 'onnxruntime-binaries',
  setup(bundler) {
    // A path in a variable is not resolved by esbuild. It is relative to dist/daemon/chunks or dist/daemon/inference.
    bundler.onLoad({ filter: /onnxruntime-node[\\/]dist[\\/]binding\.js$/ }, () => ({
      contents:
        "const file = ['../../onnxruntime', process.platform, process.arch, 'onnxruntime_binding.node'].join('/');" +
        'exports.binding = require(file)',
    }))
  },
}

/** Tesseract's module looks for its WebAssembly file next to itself, unless it is given one, as ours is. */
const tesseractFolder: Plugin = {
  name: 'tesseract-folder',
  setup(bundler) {
    bundler.onLoad({ filter: /tesseract\.js-core[\\/].*\.js$/ }, ({ path }) => ({
      contents: `const __dirname = '', __filename = '';${readFileSync(path, 'utf8')}`,
    }))
  },
}

/** If DEV is set, Ink loads its developer tools from files that the bundle does not contain. */
const removeInkDevtools: Plugin = {
  name: 'remove-ink-devtools',
  setup(build) {
    build.onLoad({ filter: /node_modules\/ink\/build\/utils\.js$/ }, () => ({ contents: 'export const isDev = () => false' }))
    build.onLoad({ filter: /node_modules\/ink\/build\/devtools\.js$/ }, () => ({ contents: '' }))
  },
}

/**
 * NODE_ENV selects React's production build. Ink renders nothing if CI is set, but the chat is only opened at a
 * terminal.
 */
export const cliBuild = {
  ...shared,
  define: { ...shared.define, 'process.env.NODE_ENV': '"production"' },
  plugins: [removeInkDevtools],
  alias: { 'is-in-ci': './scripts/not-in-ci.js' },
} satisfies BuildOptions

export const daemonBuild = {
  ...shared,
  external: [...EXTERNAL, ...EXTERNAL_BINARIES],
  plugins: [namedExports, onnxruntimeBinaries, tesseractFolder],
} satisfies BuildOptions
