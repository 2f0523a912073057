/** Exports a conversation to a Markdown file. */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { getSpeakers } from '../../cli/conversations/format-conversation.ts'
import { formatConversationMarkdown } from '../../cli/conversations/format-markdown.ts'
import { getConversation } from '../../cli/conversations/get-conversation.ts'
import type { Connection } from '../../client/request.ts'

/** Does not overwrite files. Without a name, uses the title. Returns the name of the file. */
export async function exportConversation(
  connection: Connection,
  id: string,
  { file, cwd }: { file: string; cwd: string },
): Promise<string> {
  const data = await getConversation(connection, id)
  const name = file || `${slugify(data.title ?? '') || 'conversation'}.md`
  try {
    writeFileSync(resolve(cwd, name), formatConversationMarkdown(data, await getSpeakers(connection, data)), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
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
