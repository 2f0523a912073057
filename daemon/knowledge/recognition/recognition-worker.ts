/** Process that recognises the text of scanned pages: the memory of WebAssembly can only be limited for a process. */
import { constants, setPriority } from 'node:os'
import { loadContent } from '../../store/original-store.ts'
import { serveJobs } from '../../workers/serve-jobs.ts'
import { DocumentReadError } from '../readers/parsed-document.ts'
import { openDocument } from './decode-page.ts'
import { getRecognitionFiles } from './recognition-files.ts'
import { recognizePage } from './recognize-page.ts'
import { BACKGROUND_ARGUMENT, type LanguageFile, type RecognitionTask, type RecognizedPage } from './recognized-page.ts'
import { Tesseract } from './tesseract.ts'

await serveJobs<RecognitionTask, undefined, RecognizedPage>(() => {
  // Other programs come first. With PRIORITY_LOW, a busy machine would leave it almost no time.
  if (process.argv.includes(BACKGROUND_ARGUMENT)) setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const files = getRecognitionFiles()
  let loaded: { languages: string; tesseract: Tesseract } | undefined
  const load = async (languages: readonly LanguageFile[]): Promise<Tesseract> => {
    const key = JSON.stringify(languages)
    if (loaded?.languages !== key) loaded = { languages: key, tesseract: await Tesseract.load(files.tesseract, languages) }
    return loaded.tesseract
  }
  return async ({ content, pages, languages }, sendPage) => {
    const tesseract = await load(languages)
    if (pages.length === 0) return undefined
    const document = await openDocument(await loadContent(content), tesseract, files.pdfium)
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
