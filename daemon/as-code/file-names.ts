/** Derives stable names of files and of the environment variables for secrets. */
import { hash } from 'node:crypto'

const MAX_STEM_LENGTH = 80
/** Reserved file names on Windows. */
const RESERVED_NAMES = /^(con|prn|aux|nul|com\d|lpt\d)$/

/** Maps names to file names without extension. Ambiguous, empty and reserved ones get a hash suffix. */
export function createStems(names: readonly string[]): Map<string, string> {
  const slugs = names.map(toSlug)
  const duplicates = listDuplicates(slugs)
  return new Map(names.map((name, index) => [name, createStem(name, slugs[index] as string, duplicates)]))
}

function createStem(name: string, slug: string, duplicates: ReadonlySet<string>): string {
  const needsHash = slug === '' || slug.length === MAX_STEM_LENGTH || duplicates.has(slug) || RESERVED_NAMES.test(slug)
  return needsHash ? [slug, shortHash(name)].filter(Boolean).join('-') : slug
}

const toSlug = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .slice(0, MAX_STEM_LENGTH)
    .replace(/\p{Surrogate}/gu, '')
    .replaceAll(/^-+|-+$/g, '')

export function listDuplicates(words: readonly string[]): Set<string> {
  const seen = new Set<string>()
  return new Set(words.filter((word) => seen.has(word) || !seen.add(word)))
}

export const shortHash = (text: string): string => hash('sha256', text, 'hex').slice(0, 6)

/** Joins the family's noun, the file name and the secret, such as CADRE_MODEL_LLAMA_API_KEY. */
export function createVariableName(noun: string, fileStem: string, secret: string): string {
  const ascii = /^[\x20-\x7e]*$/.test(fileStem) ? fileStem : `${fileStem}-${shortHash(fileStem)}`
  return ['cadre', noun, ascii, secret]
    .map((part) =>
      part
        .toUpperCase()
        .replaceAll(/[^A-Z0-9]+/g, '_')
        .replaceAll(/^_+|_+$/g, ''),
    )
    .filter(Boolean)
    .join('_')
}
