/** Reads Org files: headings, lists, tables and source blocks as Markdown. */
import type { ParsedDocument } from '../parsed-document.ts'

const BLOCK_START = /^\s*#\+begin_(\w+)(?:[ \t]+([\w+-]+))?/i
const BLOCK_END = /^\s*#\+end_\w+/i
const CODE_BLOCKS = new Set(['src', 'example'])

export function readOrg(source: string): ParsedDocument {
  let title: string | null = null
  let isInCode = false
  let isInDrawer = false
  const output: string[] = []
  for (const line of source.split('\n')) {
    const start = BLOCK_START.exec(line)
    if (isInCode) {
      isInCode = !BLOCK_END.test(line)
      output.push(isInCode ? line : '```')
    } else if (isInDrawer) isInDrawer = !/^\s*:END:\s*$/i.test(line)
    else if (start) {
      isInCode = CODE_BLOCKS.has(start[1]?.toLowerCase() ?? '')
      if (isInCode) output.push(`\`\`\`${start[2] ?? ''}`)
    } else if (/^\s*:(?:PROPERTIES|LOGBOOK):\s*$/i.test(line)) isInDrawer = true
    else if (/^\s*#\+/.test(line)) {
      const [, name = '', value = ''] = /^\s*#\+(\w+):[ \t]*(.*)$/.exec(line) ?? []
      if (/^title$/i.test(name) && title === null && value.trim() !== '') {
        title = value.trim().slice(0, 300)
        output.push(`# ${title}`, '')
      } else if (/^(?:author|date|subtitle|caption)$/i.test(name)) output.push(value)
    } else if (!/^\s*#(?: |$)/.test(line)) output.push(convertLine(line, title !== null))
  }
  if (isInCode) output.push('```')
  return { text: output.join('\n'), format: 'markdown', pages: [], title: title ?? findFirstHeading(output) }
}

/** Below a title, headings are one level deeper. */
function convertLine(line: string, hasTitle: boolean): string {
  const [, stars, heading] = /^(\*{1,20})[ \t]+(.*)$/.exec(line) ?? []
  if (stars !== undefined)
    return `${'#'.repeat(Math.min(stars.length + (hasTitle ? 1 : 0), 6))} ${replaceLinks(heading?.replaceAll(/\s+/g, ' ') ?? '')}`
  if (/^\s*\|[-+|]+$/.test(line)) return line.replaceAll(/-+/g, ' --- ').replaceAll('+', '|')
  return replaceLinks(line.replace(/^(\s*)\+ /, '$1- '))
}

const replaceLinks = (line: string): string =>
  line.includes('[[') ? line.replaceAll(/\[\[([^[\]]*)\](?:\[([^[\]]*)\])?\]/g, (_, target: string, text?: string) => text ?? target) : line

const findFirstHeading = (lines: readonly string[]): string | null =>
  lines
    .slice(0, 500)
    .find((line) => /^#{1,2} \S/.test(line))
    ?.replace(/^#+ /, '')
    .slice(0, 300) ?? null
