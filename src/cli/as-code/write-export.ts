/** Writes an export to a folder and removes stale files. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ManagedFamily } from '../../contract/families/as-code.ts'
import { createWriteError } from '../input/file-errors.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { listResourceFiles, readResourceFile } from './resource-files.ts'

interface ExportOptions {
  /** Overwrite changed files and remove files that are not part of the export. */
  force: boolean
  /** Exported families; files of other families are not touched. */
  families: readonly ManagedFamily[]
}

/** Returns the number of files that were written, unchanged and removed. */
export async function writeExport(folder: string, files: readonly { file: string; text: string }[], { force, families }: ExportOptions) {
  await mkdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new UsageError(`${folder} is a file, not a folder.`) : createWriteError(folder, error)
  })
  const wanted = new Map(files.map(({ file, text }) => [file, text]))
  const there = new Map<string, string>()
  for (const { file, family } of await listResourceFiles(folder))
    if (families.includes(family)) there.set(file, await readResourceFile(folder, file))
  const stale = [...there.keys()].filter((file) => !wanted.has(file))
  const other = [...there].filter(([file, text]) => wanted.has(file) && wanted.get(file) !== text).map(([file]) => file)
  if (!force && stale.length + other.length > 0) throw createConflictError(folder, [...other, ...stale])
  const changed = files.filter(({ file, text }) => there.get(file) !== text)
  for (const { file, text } of changed) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  for (const file of stale) await rm(join(folder, file))
  return { written: changed.length, unchanged: files.length - changed.length, removed: stale.length }
}

function createConflictError(folder: string, files: readonly string[]): UsageError {
  const listed = `${files.slice(0, 3).join(', ')}${files.length > 3 ? ` and ${files.length - 3} more` : ''}`
  return new UsageError(
    `${folder} contains files that differ from the export: ${listed}.`,
    'To see the differences: cadre plan. To overwrite changed and remove stale files, add --force, or use another folder.',
  )
}
