/** Selects the paths of a folder or repository that a source includes: globs, file types, hidden files, size. */
import { extname } from 'node:path'
import { createValidationError } from '../contract/errors.ts'
import { DEFAULT_FILE_TYPES, DEFAULT_MAX_FILE_SIZE } from '../contract/schemas/source-configurations.ts'
import { compileGlob, hasWildcards, type PathTest } from './glob-matcher.ts'

export interface Selection {
  /** Whether the folder may contain included files. */
  includesFolder(folder: string): boolean
  includesFile(file: string): boolean
  readonly maxFileSize: number
}

/** Bound the work per path. They also apply to globs that were stored before there were limits. */
const MAX_STARS_PER_SEGMENT = 3
const MAX_STARS = 8
const MAX_BRACES = 8
const MAX_LENGTH = 1_000

export function createSelection(configuration: object): Selection {
  const { include = [], exclude = [], file_types, max_file_size } = configuration as SelectionConfiguration
  const included = include.map((glob) => normalizeGlob('include', glob))
  const excluded = exclude.map((glob) => normalizeGlob('exclude', glob))
  const types = new Set((file_types ?? DEFAULT_FILE_TYPES).map((type) => type.toLowerCase()))
  const isIncluded = included.length === 0 ? isVisiblePath : createMatcher(included.flatMap(expandFolderGlob), false)
  const isExcluded = createMatcher(excluded, true)
  const bases = included.map(getBaseFolder)
  const includesHidden = included.some((glob) => /(^|[/{,(])\.[^/]/.test(glob))
  const includesModules = included.some((glob) => glob.includes('node_modules'))
  const isExcludedName = (name: string) => name === '.git' || (name === 'node_modules' && !includesModules)

  return {
    maxFileSize: max_file_size ?? DEFAULT_MAX_FILE_SIZE,
    includesFolder: (folder) => {
      const parts = folder.split('/')
      if (parts.some(isExcludedName) || (!includesHidden && parts.some(isHidden)) || isExcluded(folder)) return false
      return bases.length === 0 || bases.some((base) => base === '' || isWithin(base, folder) || isWithin(folder, base))
    },
    includesFile: (file) => {
      const parts = file.split('/')
      if (!types.has(getExtension(file)) || parts.some(isExcludedName)) return false
      // Excluding a folder excludes its contents, also if the folder itself was not checked.
      return isIncluded(file) && !parts.some((_, index) => isExcluded(parts.slice(0, index + 1).join('/')))
    },
  }
}

interface SelectionConfiguration {
  include?: string[]
  exclude?: string[]
  file_types?: string[]
  max_file_size?: number
}

export const getExtension = (path: string): string => extname(path).slice(1).toLowerCase()
const isHidden = (part: string) => part.startsWith('.')
const isVisiblePath = (path: string) => !path.split('/').some(isHidden)
const isWithin = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`)

function normalizeGlob(field: string, glob: string): string {
  const pattern = glob.normalize('NFC').replace(/^(\.?\/)+/, '')
  const stars = (text: string) => text.match(/\*+/g)?.length ?? 0
  if (pattern === '') throw createValidationError(`configuration.${field}`, `"${glob}" is empty`)
  if (pattern.length > MAX_LENGTH)
    throw createValidationError(`configuration.${field}`, `"${glob.slice(0, 60)}…" is too long`, `Use at most ${MAX_LENGTH} characters.`)
  if (pattern.split('{').length - 1 > MAX_BRACES)
    throw createValidationError(
      `configuration.${field}`,
      `"${glob}" has too many braces`,
      `Use at most ${MAX_BRACES} pairs of braces in a glob, or several globs.`,
    )
  if (stars(pattern) > MAX_STARS || pattern.split('/').some((part) => stars(part) > MAX_STARS_PER_SEGMENT))
    throw createValidationError(
      `configuration.${field}`,
      `"${glob}" has too many stars`,
      `Use at most ${MAX_STARS} stars, and at most ${MAX_STARS_PER_SEGMENT} between two slashes.`,
    )
  return pattern.endsWith('/') ? `${pattern}**` : pattern
}

/** Stars match a leading dot only if `dot`. A glob without a slash matches at every level, as in .gitignore. */
function createMatcher(globs: readonly string[], dot: boolean): PathTest {
  const tests = globs.map((glob): PathTest => {
    const matches = compileGlob(glob, dot)
    return glob.includes('/') ? matches : (path) => matches(path.slice(path.lastIndexOf('/') + 1))
  })
  return (path) => tests.some((test) => test(path))
}

/** The name of a folder includes its contents. */
function expandFolderGlob(glob: string): string[] {
  return hasWildcards(glob) ? [glob] : [glob, glob.includes('/') ? `${glob}/**` : `**/${glob}/**`]
}

/** Returns the folder that contains every match of a glob; empty for any folder. */
function getBaseFolder(glob: string): string {
  if (!glob.includes('/')) return ''
  const segments = glob.split('/')
  const first = segments.findIndex(hasWildcards)
  return first < 0 ? glob : segments.slice(0, first).join('/')
}
