/** Selects the paths of a folder or repository that a source includes: globs, file types, hidden files, size. */
import { extname } from 'node:path'
import { IMAGE_TYPES } from '../contract/document-types.ts'
import { createValidationError } from '../contract/errors.ts'
import { DEFAULT_FILE_TYPES, DEFAULT_MAX_FILE_SIZE } from '../contract/schemas/source-configurations.ts'
import { compileGlob, hasWildcards, type PathTest } from './glob-matcher.ts'

export interface Selection {
  /** Whether the folder may contain included files. */
  includesFolder(folder: string): boolean
  includesFile(file: string): boolean
  /** Whether the file would be included if its type were supported. Users who list file types know that others are left out. */
  hasUnsupportedType(file: string): boolean
  readonly maxFileSize: number
}

/** Bounds the work per path. */
const MAX_LENGTH = 1_000

export function createSelection(configuration: object): Selection {
  const { include = [], exclude = [], file_types, max_file_size } = configuration as SelectionConfiguration
  const included = include.map((glob) => normalizeGlob('include', glob))
  const excluded = exclude.map((glob) => normalizeGlob('exclude', glob))
  const types = new Set(
    (file_types ?? [...listDefaultTypes(configuration), ...included.flatMap(listNamedTypes)]).map((type) => type.toLowerCase()),
  )
  const isIncluded = included.length === 0 ? isVisiblePath : createMatcher(included.flatMap(expandFolderGlob), false)
  const isExcluded = createMatcher(excluded, true)
  const bases = included.map(getBaseFolder)
  const includesHidden = included.some((glob) => /(^|[/{,(])\.[^/]/.test(glob))
  const includesModules = included.some((glob) => glob.includes('node_modules'))
  const isExcludedName = (name: string) => name === '.git' || (name === 'node_modules' && !includesModules)

  const isSelected = (file: string) => {
    const parts = file.split('/')
    // Excluding a folder excludes its contents, also if the folder itself was not checked.
    return !parts.some(isExcludedName) && isIncluded(file) && !parts.some((_, index) => isExcluded(parts.slice(0, index + 1).join('/')))
  }

  return {
    maxFileSize: max_file_size ?? DEFAULT_MAX_FILE_SIZE,
    includesFolder: (folder) => {
      const parts = folder.split('/')
      if (parts.some(isExcludedName) || (!includesHidden && parts.some(isHidden)) || isExcluded(folder)) return false
      return bases.length === 0 || bases.some((base) => base === '' || isWithin(base, folder) || isWithin(folder, base))
    },
    includesFile: (file) => types.has(getExtension(file)) && !isClutter(file) && isSelected(file),
    hasUnsupportedType: (file) => file_types === undefined && !types.has(getExtension(file)) && !isClutter(file) && isSelected(file),
  }
}

/** Images of a repository are mostly icons and drawings. */
function listDefaultTypes(configuration: { ocr?: boolean; repository?: string }): readonly string[] {
  const hasImages = configuration.ocr !== false && configuration.repository === undefined
  return hasImages ? DEFAULT_FILE_TYPES : DEFAULT_FILE_TYPES.filter((type) => !IMAGE_TYPES.includes(type))
}

interface SelectionConfiguration {
  include?: string[]
  exclude?: string[]
  file_types?: string[]
  max_file_size?: number
}

/** Files that programs leave behind: lock files of office programs, previews and settings of file managers, temporary files. */
const CLUTTER =
  /^(~\$.*|\.~lock\..*#|\.DS_Store|\._.*|Thumbs\.db|ehthumbs\.db|desktop\.ini|Icon\r|.*~|.*\.(tmp|temp|swp|part|crdownload|lock))$/i
const isClutter = (file: string) => CLUTTER.test(file.slice(file.lastIndexOf('/') + 1))

/** Man pages end with the number of their section, but so do old logs (app.log.1) and libraries (libssl.so.3). */
export const getExtension = (path: string): string =>
  extname(path.replace(/(\.(?:log|so|out|err|bak|old|txt))\.\d$/i, '$1'))
    .slice(1)
    .toLowerCase()
const isHidden = (part: string) => part.startsWith('.')
const isVisiblePath = (path: string) => !path.split('/').some(isHidden)
const isWithin = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`)

function normalizeGlob(field: string, glob: string): string {
  const pattern = glob.normalize('NFC').replace(/^(\.?\/)+/, '')
  if (pattern === '') throw createValidationError(`configuration.${field}`, `"${glob}" is empty`)
  if (pattern.length > MAX_LENGTH)
    throw createValidationError(`configuration.${field}`, `"${glob.slice(0, 60)}…" is too long`, `Use at most ${MAX_LENGTH} characters.`)
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

/** Lists the types that a glob names: log for *.log, and md and log for docs/*.{md,log}. */
function listNamedTypes(glob: string): string[] {
  const [, one, several] = /\.(?:([A-Za-z0-9]+)|\{([A-Za-z0-9,]+)\})$/.exec(glob) ?? []
  return one === undefined ? (several?.split(',') ?? []) : [one]
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
