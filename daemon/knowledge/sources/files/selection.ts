/** Which paths of a folder or repository a source wants: globs, file types, hidden files, size. */
import { extname } from 'node:path'
import picomatch from 'picomatch'
import { createValidationError } from '../../../../src/contract/errors.ts'
import { DEFAULT_FILE_TYPES, DEFAULT_MAX_FILE_SIZE } from '../../../../src/contract/families/source-configurations.ts'

export interface Selection {
  /** Whether anything below this folder can be wanted. */
  includesFolder(folder: string): boolean
  includesFile(file: string): boolean
  readonly maxFileSize: number
}

type PathTest = (path: string) => boolean

/** A glob becomes a regular expression; more stars than this and an unlucky name takes it minutes to refuse. */
const MAX_STARS_PER_SEGMENT = 3
const MAX_STARS = 8

export function createSelection(configuration: Record<string, unknown>): Selection {
  const { include = [], exclude = [], file_types, max_file_size } = configuration as SelectionConfiguration
  const included = include.map((glob) => normalizeGlob('include', glob))
  const excluded = exclude.map((glob) => normalizeGlob('exclude', glob))
  const types = new Set((file_types ?? DEFAULT_FILE_TYPES).map((type) => type.toLowerCase()))
  const wants = included.length === 0 ? isVisiblePath : createMatcher(included.flatMap(expandFolderGlob), false)
  const refuses = createMatcher(excluded, true)
  const bases = included.map(getBaseFolder)
  const namesHidden = included.some((glob) => /(^|[/{,(])\.[^/]/.test(glob))
  const namesModules = included.some((glob) => glob.includes('node_modules'))
  const never = (name: string) => name === '.git' || (name === 'node_modules' && !namesModules)

  return {
    maxFileSize: max_file_size ?? DEFAULT_MAX_FILE_SIZE,
    includesFolder: (folder) => {
      const parts = folder.split('/')
      if (parts.some(never) || (!namesHidden && parts.some(isHidden)) || refuses(folder)) return false
      return bases.length === 0 || bases.some((base) => base === '' || isWithin(base, folder) || isWithin(folder, base))
    },
    includesFile: (file) => {
      const parts = file.split('/')
      if (!types.has(getExtension(file)) || parts.some(never)) return false
      // A glob that excludes a folder excludes what is in it, also when the folder was never entered by itself.
      return wants(file) && !parts.some((_, at) => refuses(parts.slice(0, at + 1).join('/')))
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
  const plain = glob.normalize('NFC').replace(/^(\.?\/)+/, '')
  const stars = (text: string) => text.match(/\*+/g)?.length ?? 0
  if (plain === '') throw createValidationError(`configuration.${field}`, `"${glob}" names nothing`)
  if (stars(plain) > MAX_STARS || plain.split('/').some((part) => stars(part) > MAX_STARS_PER_SEGMENT))
    throw createValidationError(
      `configuration.${field}`,
      `"${glob}" has too many stars`,
      `A glob may have ${MAX_STARS} of them, ${MAX_STARS_PER_SEGMENT} between two slashes.`,
    )
  return plain.endsWith('/') ? `${plain}**` : plain
}

/** Stars do not match a leading dot unless `dot`; a glob without a slash matches at every level, as in .gitignore. */
function createMatcher(globs: readonly string[], dot: boolean): PathTest {
  const tests = globs.map((glob) => picomatch(glob, { dot, basename: !glob.includes('/'), nonegate: true, noextglob: true }))
  return (path) => tests.some((test) => test(path))
}

/** The name of a folder stands for what is in it. */
function expandFolderGlob(glob: string): string[] {
  return picomatch.scan(glob).isGlob ? [glob] : [glob, glob.includes('/') ? `${glob}/**` : `**/${glob}/**`]
}

/** The folder below which everything a glob matches must lie; empty where it may lie anywhere. */
function getBaseFolder(glob: string): string {
  if (!glob.includes('/')) return ''
  const { base, isGlob } = picomatch.scan(glob)
  return isGlob ? base : glob
}
