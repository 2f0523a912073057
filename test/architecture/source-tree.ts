/** The source files of this repository with their text and imports, for tests of the architecture. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Import {
  /** A file of this repository, or a package. */
  target: string
  typeOnly: boolean
}

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const FOLDERS = ['src', 'commands', 'daemon', 'bin', 'bench', 'attack', 'test', 'scripts', 'training']

export const files = FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => posix.join(folder, file.replaceAll('\\', '/'))),
)
export const code = files.filter((file) => /\.(ts|tsx|js)$/.test(file))
const texts = new Map(code.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
export const getText = (file: string): string => texts.get(file) ?? ''
export const imports = new Map(code.map((file) => [file, parseImports(file)]))

function parseImports(file: string): Import[] {
  const source = getText(file).replaceAll(/`[^`]*`/g, '``')
  const statements = source.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'/gm)
  const calls = source.matchAll(/(typeof\s+)?\bimport\(\s*'([^']+)'\s*\)/g)
  return [...statements, ...calls].map(([, type, target = '']) => ({
    typeOnly: type !== undefined,
    target: target.startsWith('.') ? posix.normalize(posix.join(posix.dirname(file), target)) : target,
  }))
}

export const listFiles = (folder: string): string[] => code.filter((file) => file.startsWith(`${folder}/`))

/** Lists the imports that a rule forbids, as sentences. */
export function findViolations(from: readonly string[], isForbidden: (found: Import, file: string) => boolean): string[] {
  return from.flatMap((file) =>
    (imports.get(file) ?? []).filter((found) => isForbidden(found, file)).map(({ target }) => `${file} imports ${target}`),
  )
}

/** Product files that import a package. */
export const findImporters = (packageName: string): string[] =>
  code.filter(
    (file) =>
      !/^(test|bench|attack)\//.test(file) &&
      imports.get(file)?.some(({ target }) => target === packageName || target.startsWith(`${packageName}/`)),
  )
