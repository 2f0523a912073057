/** Copies files of bundled packages that are read at run time into dist/: native modules, WebAssembly, and the files of Swagger UI. */
import { cpSync, writeFileSync } from 'node:fs'
import { ROOT } from './external.ts'

/** The platforms that LanceDB has binaries for, and with them Cadre. */
const PLATFORMS = ['darwin/arm64', 'linux/arm64', 'linux/x64', 'win32/arm64', 'win32/x64']

export function copyRuntimeFiles(directory: string): void {
  const copy = (from: string, to: string) => cpSync(`${ROOT}node_modules/${from}`, `${directory}/${to}`, { recursive: true })
  for (const platform of PLATFORMS) copy(`onnxruntime-node/bin/napi-v3/${platform}`, `onnxruntime/${platform}`)
  copy('keytar/lib', 'keytar/lib')
  writeFileSync(`${directory}/keytar/package.json`, '{ "type": "commonjs" }\n')
  for (const platform of PLATFORMS) copy(`keytar/prebuilds/${platform.replace('/', '-')}`, `keytar/prebuilds/${platform.replace('/', '-')}`)
  copy('@fastify/swagger-ui/static', 'swagger-ui')
  copy('tesseract.js-core/tesseract-core-simd-lstm.wasm', 'recognition/tesseract.wasm')
  copy('@hyzyla/pdfium/dist/pdfium.wasm', 'recognition/pdfium.wasm')
  copy('@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz', 'recognition/eng.traineddata.gz')
}
