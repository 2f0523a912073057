/** A conversation as a Markdown file. */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Message } from './reply.ts'

interface Exported {
  title: string | null
  agent: string
  messages: readonly Message[]
}

export function markdownOf({ title, agent, messages }: Exported): string {
  const parts = messages.map(({ role, content, citations }) => {
    const cited = (citations ?? []).filter((citation) => citation.cited)
    const sources = cited.map(({ index, source, page }) => `[${index}] ${source}, page ${page}`).join('  \n')
    return [`## ${role === 'user' ? 'You' : agent}`, content.trim(), ...(sources === '' ? [] : [sources])].join('\n\n')
  })
  return `${[`# ${title ?? 'Conversation'}`, ...parts].join('\n\n')}\n`
}

/** Writes it where nothing stands yet, and says where that is. */
export function writeExport(text: string, { title, file, cwd }: { title: string | null; file: string; cwd: string }): string {
  const name = file || `${slug(title ?? '') || 'conversation'}.md`
  try {
    writeFileSync(resolve(cwd, name), text, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Error(`${name} is there already. Name another file: /export notes.md`)
    throw error
  }
  return name
}

function slug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
}
