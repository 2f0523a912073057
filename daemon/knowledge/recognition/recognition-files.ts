/** Where the WebAssembly modules and the data of text recognition are. */
import { fileURLToPath } from 'node:url'
import { resolvePackageFolder } from '../../../src/package-folder.ts'

export function getRecognitionFiles(): Record<'tesseract' | 'pdfium' | 'english', string> {
  const resolve = (file: string) => fileURLToPath(new URL(`dist/recognition/${file}`, resolvePackageFolder()))
  return { tesseract: resolve('tesseract.wasm'), pdfium: resolve('pdfium.wasm'), english: resolve('eng.traineddata.gz') }
}
