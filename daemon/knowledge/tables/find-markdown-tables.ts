/** Finds the tables of Markdown, into which other formats are converted. */
import type { ExtractedTable } from './extracted-table.ts'

const SEPARATOR = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/
const FENCE = /^\s*(?:```|~~~)/

export function findMarkdownTables(text: string): ExtractedTable[] {
  const lines = text.split('\n')
  const tables: ExtractedTable[] = []
  let heading = ''
  let isCode = false
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] as string
    if (FENCE.test(line)) isCode = !isCode
    if (isCode) continue
    const [, title] = /^#{1,6}\s+(.*?)#*\s*$/.exec(line) ?? []
    if (title !== undefined) heading = removeMarkup(title)
    if (!line.includes('|') || !lines[index + 1]?.includes('-') || !SEPARATOR.test(lines[index + 1] as string)) continue
    const header = splitRow(line)
    const rows: string[][] = []
    index += 2
    while (lines[index]?.includes('|')) rows.push(splitRow(lines[index++] as string))
    tables.push({ caption: heading, header, forEachRow: (add) => rows.forEach(add) })
  }
  return tables
}

function splitRow(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => removeMarkup(cell.replaceAll('\\|', '|')))
}

/** Removes emphasis, code marks, links and line breaks. */
const removeMarkup = (text: string) =>
  text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<br\s*\/?>/gi, ' ')
    .replaceAll(/\*\*|__|`/g, '')
    .replaceAll(/\\([\\`*_{}[\]()#+\-.!|])/g, '$1')
    .trim()
