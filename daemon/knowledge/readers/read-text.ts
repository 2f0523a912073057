/** Reads Markdown, reStructuredText, plain text, source code and configuration files. */
import { parseMarkdown, stripMarkdown } from '../../language/parse-markdown.ts'
import { cleanText, type ParsedDocument } from './parsed-document.ts'
import { removeMarkup } from './remove-markup.ts'

const MAX_TITLE_POSITION = 20_000

export function readText(source: string, format: 'markdown' | 'plain' | 'code' | 'config'): ParsedDocument {
  const text = format === 'markdown' ? removeMarkup(cleanText(source)) : cleanText(source)
  return { text, format, pages: [], title: format === 'markdown' ? findMarkdownTitle(text) : null }
}

/** Returns the title of the front matter, or the first heading. */
function findMarkdownTitle(text: string): string | null {
  const blocks = parseMarkdown(text.slice(0, MAX_TITLE_POSITION))
  const fields = blocks[0]?.kind === 'frontMatter' ? text.slice(blocks[0].start, blocks[0].end) : ''
  const title = /^title:[ \t]*["']?(.{1,300}?)["']?[ \t]*$/m.exec(fields)?.[1]
  const headings = blocks.filter(({ kind, level }) => kind === 'heading' && level <= 2)
  return title || headings.map((heading) => stripMarkdown(heading.title)).find((heading) => heading !== '') || null
}

/** Converts reStructuredText headings, whose underline characters each document assigns to levels itself. */
export function readRst(source: string): ParsedDocument {
  const lines = cleanText(source).split('\n')
  const levels: string[] = []
  const output: string[] = []
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? ''
    const hasOverline =
      isUnderline(line) &&
      isUnderline(lines[index + 2] ?? '') &&
      (lines[index + 1] ?? '').trim() !== '' &&
      line[0] === lines[index + 2]?.[0]
    const title = (hasOverline ? lines[index + 1] : line) ?? ''
    const underline = (hasOverline ? line : lines[index + 1]) ?? ''
    if (
      title.trim() !== '' &&
      !isUnderline(title) &&
      isUnderline(underline) &&
      underline.trimEnd().length >= title.trimEnd().length - 1 &&
      (hasOverline || !/^\s/.test(title))
    ) {
      const mark = (hasOverline ? '^' : '_') + underline[0]
      if (!levels.includes(mark)) levels.push(mark)
      output.push(`${'#'.repeat(Math.min(levels.indexOf(mark) + 1, 6))} ${title.trim()}`)
      index += hasOverline ? 2 : 1
    } else output.push(line)
  }
  const text = output.join('\n')
  return { text, format: 'markdown', pages: [], title: findMarkdownTitle(text) }
}

/** Three or more times the same punctuation character, and nothing else. */
function isUnderline(line: string): boolean {
  const trimmed = line.trimEnd()
  return trimmed.length >= 3 && /^[=\-~^"'`#*+:.<>_]/.test(trimmed) && trimmed === (trimmed[0] ?? '').repeat(trimmed.length)
}
