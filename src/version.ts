/** The version of this build. */
import { readFileSync } from 'node:fs'

declare const CADRE_VERSION: string | undefined

/** Bundles define CADRE_VERSION; the source reads package.json. */
export const version: string =
  typeof CADRE_VERSION === 'string'
    ? CADRE_VERSION
    : (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version

/** Whether a version is newer than another, by Semantic Versioning. Build metadata is ignored. */
export function isNewerVersion(candidate: string, other: string): boolean {
  const [a, b] = [parseVersion(candidate), parseVersion(other)]
  const difference = a.numbers.map((number, at) => number - (b.numbers[at] ?? 0)).find((part) => part !== 0)
  if (difference !== undefined) return difference > 0
  // 1.0.0 is newer than 1.0.0-beta.2, which is newer than 1.0.0-beta.1.
  if (a.preview === '' || b.preview === '') return a.preview === '' && b.preview !== ''
  return a.preview.localeCompare(b.preview, 'en', { numeric: true }) > 0
}

function parseVersion(text: string): { numbers: number[]; preview: string } {
  const [, main = '', preview = ''] = /^v?(\d+(?:\.\d+)*)(?:-([^+]*))?/.exec(text) ?? []
  const numbers = main.split('.').map(Number)
  return { numbers: [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0], preview }
}
