/** Turns the names of files in an archive or mail into paths that are safe to show and store. */

const MAX_PART_LENGTH = 200
const MAX_PARTS = 50

/** Paths are relative and without `..`. They are only names: nothing is written to them. Returns an empty text if nothing is left. */
export function cleanPath(name: string): string {
  return name
    .normalize('NFC')
    .replaceAll('\\', '/')
    .replaceAll(/\p{Cc}|\p{Surrogate}|[\u202a-\u202e\u2066-\u2069]/gu, '')
    .split('/')
    .map((part) => shorten(part.trim()))
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .slice(-MAX_PARTS)
    .join('/')
}

/** A name from the subject of a mail or the name of an attachment has no folders. */
export const cleanName = (name: string): string => cleanPath(name.replaceAll(/[/\\]/g, '-').replaceAll(/\s+/g, ' '))

/** Keeps the file type. */
function shorten(part: string): string {
  const characters = [...part]
  if (characters.length <= MAX_PART_LENGTH) return part
  const type = /\.[A-Za-z0-9]{1,10}$/.exec(part)?.[0] ?? ''
  return `${characters
    .slice(0, MAX_PART_LENGTH - type.length)
    .join('')
    .trim()}${type}`
}

/** Numbers files with the same name: `report.pdf`, `report (2).pdf`. */
export class UniquePaths {
  readonly #counts = new Map<string, number>()

  add(path: string): string {
    const count = (this.#counts.get(path) ?? 0) + 1
    this.#counts.set(path, count)
    if (count === 1) return path
    const [, stem = path, type = ''] = /^(.*[^/])(\.[^./]+)$/.exec(path) ?? []
    return this.add(`${stem} (${count})${type}`)
  }

  /** Adds paths that were numbered before, in any order. */
  restore(paths: ReadonlySet<string>): void {
    for (const path of paths) {
      const [, stem = '', number, type = ''] = /^(.*[^/]) \((\d+)\)(\.[^./]+)?$/.exec(path) ?? []
      const original = `${stem}${type}`
      const isNumbered = number !== undefined && paths.has(original)
      if (isNumbered) this.#counts.set(original, Math.max(Number(number), this.#counts.get(original) ?? 0))
      this.#counts.set(path, Math.max(1, this.#counts.get(path) ?? 0))
    }
  }
}
