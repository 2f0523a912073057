/** Process that recognises the text of scanned pages: the memory of WebAssembly can only be limited for a process. */
import { constants, setPriority } from 'node:os'
import { serveJobs } from '../../workers/serve-jobs.ts'
import { DocumentReadError } from '../readers/parsed-document.ts'
import { openDocument } from './decode-page.ts'
import { getRecognitionFiles } from './recognition-files.ts'
import { recognizePage } from './recognize-page.ts'
import { BACKGROUND_ARGUMENT, type RecognitionTask, type RecognizedPage } from './recognized-page.ts'
import { Tesseract } from './tesseract.ts'

const LANGUAGES_ARGUMENT = '--languages='

await serveJobs<RecognitionTask, undefined, RecognizedPage>(async () => {
  // Other programs come first. With PRIORITY_LOW, a busy machine would leave it almost no time.
  if (process.argv.includes(BACKGROUND_ARGUMENT)) setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const files = getRecognitionFiles()
  const argument = process.argv.find((value) => value.startsWith(LANGUAGES_ARGUMENT))
  const languages = argument ? JSON.parse(argument.slice(LANGUAGES_ARGUMENT.length)) : [{ language: 'eng', file: files.english }]
  const tesseract = await Tesseract.load(files.tesseract, languages)
  return async ({ bytes, pages }, sendPage) => {
    const document = await openDocument(bytes, tesseract, files.pdfium)
    for (const page of pages) {
      try {
        const { text, confidence } = recognizePage(tesseract, await document.decode(page), document.isPhoto)
        await sendPage({ page, text, confidence })
      } catch (error) {
        // The memory of the module may be damaged after a trap.
        if (error instanceof WebAssembly.RuntimeError) throw error
        const problem = error instanceof DocumentReadError ? error.message : `The page is damaged (${(error as Error).message}).`
        await sendPage({ page, text: '', confidence: 0, problem })
      }
    }
    document.close()
    return undefined
  }
})
