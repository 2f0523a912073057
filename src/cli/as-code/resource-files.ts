/** Lists and reads a folder of YAML files: one file per resource, in folders named after the families. */
import { createReadStream } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { MANAGED_FAMILIES, MAX_RESOURCES, type ManagedFamily } from '../../contract/families/as-code.ts'
import { suggestWord } from '../../contract/suggest.ts'
import { createReadError } from '../input/file-errors.ts'
import { readStream } from '../input/input-reader.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { formatBytes } from '../terminal/format-quantity.ts'

/** Bodies are limited to 8 MB elsewhere; escapes and indentation can make the YAML larger. */
const MAX_FILE_BYTES = 32_000_000
const MAX_DEPTH = 8

const isYaml = (name: string): boolean => ['.yaml', '.yml'].includes(extname(name).toLowerCase())

/** Lists relative paths with slashes, sorted. Skips hidden files and files that are not YAML. */
export async function listResourceFiles(folder: string): Promise<{ file: string; family: ManagedFamily }[]> {
  const found: string[] = []
  const root = await resolveRoot(folder)
  const look = async (below: readonly string[]): Promise<void> => {
    if (below.length > MAX_DEPTH) throw new UsageError(`${below.join('/')} is nested too deeply.`)
    for (const entry of await readdir(join(root, ...below), { withFileTypes: true })) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const parts = [...below, entry.name]
      if (entry.isSymbolicLink()) await checkLink(root, parts)
      if (entry.isDirectory()) await look(parts)
      else if (isYaml(entry.name)) found.push(parts.join('/'))
      if (found.length > MAX_RESOURCES) throw new UsageError(`${folder} contains more than ${MAX_RESOURCES} YAML files.`)
    }
  }
  await look([])
  return found.sort().map((file) => ({ file, family: getFamily(file) }))
}

async function resolveRoot(folder: string): Promise<string> {
  const stats = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw createReadError(folder, error)
    throw new UsageError(`Folder not found: ${folder}.`, 'To create one: cadre export --to DIRECTORY')
  })
  if (!stats.isDirectory()) throw new UsageError(`${folder} is not a folder.`, 'Use a folder written by cadre export.')
  return realpath(folder)
}

/** Links may only point to files inside the folder, so that nothing outside is read or overwritten. */
async function checkLink(root: string, parts: readonly string[]): Promise<void> {
  const target = await realpath(join(root, ...parts)).catch(() => undefined) // broken link
  const folder = target !== undefined && (await stat(target)).isDirectory()
  if (!folder && !isYaml(parts.at(-1) ?? '')) return
  if (folder || target === undefined || !target.startsWith(root + sep))
    throw new UsageError(
      `${parts.join('/')} is a link ${folder ? 'to a folder' : 'to a target outside the folder'}.`,
      'Replace the link by its target.',
    )
}

function getFamily(file: string): ManagedFamily {
  const [folder = '', ...rest] = file.split('/')
  const name = rest.length === 0 ? folder.replace(/\.ya?ml$/i, '') : folder
  const family = MANAGED_FAMILIES.find((one) => one === name && (one === 'settings') === (rest.length === 0))
  if (family) return family
  const near = rest.length === 0 ? undefined : suggestWord(name, MANAGED_FAMILIES)
  throw new UsageError(
    `${file} is not in the folder of a family.`,
    near
      ? `Did you mean ${near}/?`
      : `Valid folders: ${MANAGED_FAMILIES.filter((one) => one !== 'settings').join(', ')}. Move other YAML files elsewhere or ` +
          'into a hidden folder.',
  )
}

export async function readResourceFile(folder: string, file: string): Promise<string> {
  const path = join(folder, file)
  if (!(await stat(path)).isFile()) throw new UsageError(`${file} is not a file.`)
  const content = await readStream(
    createReadStream(path),
    MAX_FILE_BYTES,
    () => new UsageError(`${file} is larger than ${formatBytes(MAX_FILE_BYTES)}.`),
  )
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    throw new UsageError(`${file} is not UTF-8 text.`, 'Save it as UTF-8.')
  }
}
