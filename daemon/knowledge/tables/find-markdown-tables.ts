/** Finds the tables of Markdown, into which other formats are converted. */
import type { ExtractedTable } from './extracted-table.ts'

const FENCE = /^\s*(?:```|~~~)/
/** Longer headings are cut, and longer cells keep their markup: patterns could take long on them. */
const MAX_HEADING_LENGTH = 300
const MAX_MARKED_LENGTH = 1_000

export function findMarkdownTables(text: string): ExtractedTable[] {
  const lines = text.split('\n')
  const tables: ExtractedTable[] = []
  let heading = ''
  let isCode = false
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] as string
    if (FENCE.test(line)) isCode = !isCode
    if (isCode) continue
    const [, title] = /^#{1,6}\s+(.*?)#*\s*$/.exec(line.slice(0, MAX_HEADING_LENGTH)) ?? []
    if (title !== undefined) heading = removeMarkup(title)
    if (!line.includes('|') || !isSeparator(lines[index + 1] ?? '')) continue
    const first = index + 2
    let end = first
    while (lines[end]?.includes('|')) end++
    const forEachRow: ExtractedTable['forEachRow'] = (add) => {
      for (let row = first; row < end; row++) add(splitRow(lines[row] as string))
    }
    tables.push({ caption: heading, header: splitRow(line), rowCount: end - first, forEachRow })
    index = end - 1
  }
  return tables
}

const isSeparator = (line: string): boolean => line.includes('-') && splitCells(line).every((cell) => /^:?-+:?$/.test(cell.trim()))

const splitRow = (line: string): string[] => splitCells(line).map((cell) => removeMarkup(cell.replaceAll('\\|', '|')))

function splitCells(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/)
}

/** Removes emphasis, code marks, links and line breaks. */
const removeMarkup = (text: string) =>
  text.length > MAX_MARKED_LENGTH
    ? text.trim()
    : text
        .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/<br\s*\/?>/gi, ' ')
        .replaceAll(/\*\*|__|`/g, '')
        .replaceAll(/\\([\\`*_{}[\]()#+\-.!|])/g, '$1')
        .trim()
