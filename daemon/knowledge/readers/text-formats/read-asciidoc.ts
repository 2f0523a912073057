/** Reads AsciiDoc: headings, lists, tables and source blocks as Markdown. */
import type { ParsedDocument } from '../parsed-document.ts'

const CODE_FENCE = /^(?:-{4,}|\.{4,}|`{3,}\w*)\s*$/
const COMMENT_FENCE = /^\/{4,}\s*$/
const OTHER_FENCE = /^(?:={4,}|\*{4,}|_{4,}|\+{4,}|--)\s*$/

export function readAsciidoc(source: string): ParsedDocument {
  const output: string[] = []
  let title: string | null = null
  let language = ''
  /** The line that ends the current block. */
  let fence: string | undefined
  let table: TableReader | undefined
  for (const line of source.split('\n')) {
    const trimmed = line.trim()
    const attributes = /^\[([^\]]*)\]$/.exec(trimmed)?.[1]
    if (fence !== undefined) {
      const isEnd = trimmed === fence
      if (!COMMENT_FENCE.test(fence)) output.push(isEnd ? '```' : line)
      if (isEnd) fence = undefined
    } else if (/^[|!,:]={3,}$/.test(trimmed)) {
      if (table) output.push(...table.format())
      table = table ? undefined : new TableReader()
    } else if (table) table.add(line)
    else if (COMMENT_FENCE.test(trimmed)) fence = trimmed
    else if (CODE_FENCE.test(trimmed)) {
      fence = trimmed.replace(/\w+$/, '')
      output.push(`\`\`\`${language}`)
      language = ''
    } else if (attributes !== undefined) language = /^source(?:%\w+)?,[ \t]*([\w+-]+)/.exec(attributes)?.[1] ?? ''
    else if (isHidden(trimmed)) continue
    else {
      const [, marks, heading] = /^(={1,6})[ \t]+(\S.*)$/.exec(line) ?? []
      if (marks === undefined) output.push(convertLine(line))
      else {
        if (marks.length === 1) title ??= heading?.trim().slice(0, 300) ?? null
        output.push('', `${'#'.repeat(marks.length)} ${replaceLinks(heading ?? '').trim()}`, '')
      }
    }
  }
  if (table) output.push(...table.format())
  if (fence !== undefined && !COMMENT_FENCE.test(fence)) output.push('```')
  return { text: output.join('\n').trim(), format: 'markdown', pages: [], title }
}

/** Comments, attributes, includes, anchors and the marks of other blocks. */
const isHidden = (line: string): boolean =>
  (line.startsWith('//') && !line.startsWith('///')) ||
  /^:!?[\w-]+!?:(?:\s|$)/.test(line) ||
  /^(?:include|image|video|toc|ifdef|ifndef|endif|ifeval)::/.test(line) ||
  /^\[\[[^\]]*\]\]$/.test(line) ||
  OTHER_FENCE.test(line) ||
  line === '+' ||
  line === "'''"

function convertLine(line: string): string {
  const [, marks, item] = /^[ \t]*(\*{1,5}|-|\.{1,5})[ \t]+(\S.*)$/.exec(line) ?? []
  if (marks !== undefined) return `${'  '.repeat(marks.length - 1)}${marks.startsWith('.') ? '1.' : '-'} ${replaceLinks(item ?? '')}`
  // .Title of a block
  const [, caption] = /^\.([^\s.].*)$/.exec(line) ?? []
  return replaceLinks(caption ?? line)
}

function replaceLinks(line: string): string {
  return line
    .replaceAll(/(?:link:|xref:|mailto:)([^\s[\]]{1,1000})\[([^\]]{0,500})\]/g, (_, target: string, text: string) => text || target)
    .replaceAll(/(https?:\/\/[^\s[\]]{1,1000})\[([^\]]{0,500})\]/g, (_, target: string, text: string) =>
      text === '' ? target : `${text} (${target})`,
    )
    .replaceAll(/<<([^<>,]{1,200})(?:,([^<>]{1,200}))?>>/g, (_, target: string, text?: string) => text?.trim() ?? target)
}

/** A row is a line with several cells, or as many cells as the first line has. */
class TableReader {
  readonly #cells: string[] = []
  #columns = 0

  add(line: string): void {
    if (line.trim() === '') return
    const cells = line.split(/(?:^|[ \t])(?:\d{0,3}[.+*]?\d{0,3}[<^>]?[adehlmsv]?)\|/)
    const [before = '', ...own] = cells
    // A cell may have several lines.
    if (own.length === 0) this.#cells.push(`${this.#cells.pop() ?? ''} ${before.trim()}`.trim())
    else this.#cells.push(...own.map((cell) => replaceLinks(cell.trim()).replaceAll('|', '\\|')))
    if (this.#columns === 0) this.#columns = own.length
  }

  format(): string[] {
    const columns = Math.max(1, this.#columns)
    const rows: string[] = []
    for (let index = 0; index < this.#cells.length; index += columns)
      rows.push(`| ${this.#cells.slice(index, index + columns).join(' | ')} |`)
    if (rows.length > 0) rows.splice(1, 0, `|${' --- |'.repeat(columns)}`)
    return ['', ...rows, '']
  }
}
