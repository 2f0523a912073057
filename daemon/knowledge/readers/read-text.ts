/** Reads Markdown, plain text, source code and configuration files. */
import { parseMarkdown, stripMarkdown } from '../../language/parse-markdown.ts'
import { cleanText, type ParsedDocument } from './parsed-document.ts'
import { removeMarkup } from './remove-markup.ts'

const MAX_TITLE_POSITION = 20_000

export function readText(source: string, format: 'markdown' | 'plain' | 'code' | 'config'): ParsedDocument {
  const text = format === 'markdown' ? removeMarkup(cleanText(source)) : cleanText(source)
  return { text, format, pages: [], title: format === 'markdown' ? findMarkdownTitle(text) : null }
}

/** Returns the title of the front matter, or the first heading. */
export function findMarkdownTitle(text: string): string | null {
  const blocks = parseMarkdown(text.slice(0, MAX_TITLE_POSITION))
  const fields = blocks[0]?.kind === 'frontMatter' ? text.slice(blocks[0].start, blocks[0].end) : ''
  const title = /^title:[ \t]*["']?(.{1,300}?)["']?[ \t]*$/m.exec(fields)?.[1]
  const headings = blocks.filter(({ kind, level }) => kind === 'heading' && level <= 2)
  return title || headings.map((heading) => stripMarkdown(heading.title)).find((heading) => heading !== '') || null
}
