/** Codes and names of the languages of text recognition. */
import { recognitionLanguageRoutes } from '../../contract/families/recognition/recognition-languages.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

const CODE = new RegExp((recognitionLanguageRoutes.add.params.properties.language as { pattern?: string }).pattern ?? '')

/** Returns the name in English, such as German for deu; the code if it is unknown. */
export function formatLanguage(code: string): string {
  const [language = code, ...variant] = code.split('_')
  const name = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' }).of(language) ?? language
  return variant.length === 0 ? name : `${name} (${variant.join(' ')})`
}

/** Throws a UsageError if it is not a code. */
export function requireLanguageCode(language: string): string {
  if (CODE.test(language)) return language
  throw new UsageError(
    `"${language}" is not the code of a language.`,
    "Use Tesseract's code, such as deu for German, fra for French or chi_sim for Chinese.",
  )
}
