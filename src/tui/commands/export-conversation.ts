import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { formatExport, resolveExportFormat } from '../../cli/conversations/format-export.ts'
import { getConversation } from '../../cli/conversations/get-conversation.ts'
import { createWriteError } from '../../cli/input/file-errors.ts'
import type { Connection } from '../../client/request.ts'

/** The extension selects the format. Does not overwrite files. Without a name, uses the title. Returns the name of the file. */
export async function exportConversation(
  connection: Connection,
  id: string,
  { file, cwd }: { file: string; cwd: string },
): Promise<string> {
  const data = await getConversation(connection, id)
  const name = file || `${slugify(data.title ?? '') || 'conversation'}.md`
  const text = await formatExport(connection, data, resolveExportFormat(name) ?? 'md')
  try {
    writeFileSync(resolve(cwd, name), text, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw createWriteError(name, error)
    throw new Error(`${name} already exists. Use another name: /export notes.md`)
  }
  return name
}

function slugify(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
}
