/** The text of a scanned page, and what the process that recognises it does. */
import type { OriginalContent } from '../../store/original-store.ts'

export interface RecognizedPage {
  /** Starting with 1. An image has one page, unless it is a TIFF file. */
  page: number
  text: string
  /** Mean confidence of the words, from 0 to 100. */
  confidence: number
  /** Why the page could not be recognised. */
  problem?: string
}

/** What a reader needs to know of text recognition. */
export interface Recognition {
  /** Whether pages that are not recognised yet will be. */
  isEnabled: boolean
  pages: readonly RecognizedPage[]
}

/** A language and its data, which may be compressed. */
export interface LanguageFile {
  language: string
  file: string
}

/** Pages of an image or a PDF file. Each one is sent as a part of the result. Without pages, the languages are loaded. */
export interface RecognitionTask {
  content: OriginalContent
  pages: readonly number[]
  languages: readonly LanguageFile[]
}

/** Argument of a process that recognises pages for which nobody waits. */
export const BACKGROUND_ARGUMENT = '--background'

export const ENGLISH = 'eng'

/** Joins the codes of languages with +, as Tesseract does. */
export const joinLanguages = (languages: readonly LanguageFile[]): string => languages.map(({ language }) => language).join('+')

/** Text of a page is uncertain below this confidence. Printed pages have 85 to 96. */
export const UNCERTAIN_CONFIDENCE = 70
