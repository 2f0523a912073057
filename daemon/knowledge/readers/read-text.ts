/** Reads texts that are their own format: markdown, reStructuredText, plain text and source code. */
import { cleanText, type ParsedDocument } from './parsed-document.ts'

export function readText(source: string, format: 'markdown' | 'plain' | 'code'): ParsedDocument {
  const text = cleanText(source)
  return { text, format, pages: [], title: format === 'markdown' ? findMarkdownTitle(text) : null }
}

/** The title of the front matter, or the first heading. */
function findMarkdownTitle(text: string): string | null {
  const matter = /^---\n((?:(?!---\n).*\n){1,200})---\n/.exec(text.slice(0, 20_000))?.[1]
  const named = matter && /^title:[ \t]*["']?(.{1,300}?)["']?[ \t]*$/m.exec(matter)?.[1]
  return named || (/^#{1,2}[ \t]+(\S.{0,300})$/m.exec(text.slice(0, 20_000))?.[1]?.replace(/[ \t#]+$/, '') ?? null)
}

/** reStructuredText underlines its headings, with a character that each document chooses for each level. */
export function readRst(source: string): ParsedDocument {
  const lines = cleanText(source).split('\n')
  const levels: string[] = []
  const out: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const over =
      isUnderline(line) && isUnderline(lines[at + 2] ?? '') && (lines[at + 1] ?? '').trim() !== '' && line[0] === lines[at + 2]?.[0]
    const title = (over ? lines[at + 1] : line) ?? ''
    const rule = (over ? line : lines[at + 1]) ?? ''
    if (
      title.trim() !== '' &&
      !isUnderline(title) &&
      isUnderline(rule) &&
      rule.trimEnd().length >= title.trimEnd().length - 1 &&
      (over || !/^\s/.test(title))
    ) {
      const mark = (over ? '^' : '_') + rule[0]
      if (!levels.includes(mark)) levels.push(mark)
      out.push(`${'#'.repeat(Math.min(levels.indexOf(mark) + 1, 6))} ${title.trim()}`)
      at += over ? 2 : 1
    } else out.push(line)
  }
  const text = out.join('\n')
  return { text, format: 'markdown', pages: [], title: findMarkdownTitle(text) }
}

/** Three or more times the same mark, and nothing else. */
function isUnderline(line: string): boolean {
  const trimmed = line.trimEnd()
  return trimmed.length >= 3 && /^[=\-~^"'`#*+:.<>_]/.test(trimmed) && trimmed === (trimmed[0] ?? '').repeat(trimmed.length)
}
