/** Reads e-books: their chapters in reading order, as markdown. */

import { cleaned, type ReadDocument, ReadFailure } from './document.ts'
import { partText } from './docx/parts.ts'
import { textOf, visible } from './html/html.ts'
import { writeHtml } from './html/to-markdown.ts'
import { type HtmlElement, parseHtml } from './html/tree.ts'
import { MarkdownWriter } from './markdown-writer.ts'
import type { Archive } from './zip.ts'

export function readEpub(archive: Archive): ReadDocument {
  const container = parseHtml(partText(archive, 'META-INF/container.xml'))
  const packagePath = all(container, 'rootfile')[0]?.attributes.get('full-path')
  if (packagePath === undefined || !archive.has(packagePath)) throw new ReadFailure('The e-book is damaged: its table of parts is missing.')
  const book = parseHtml(partText(archive, packagePath))
  const items = new Map(all(book, 'item').map((item) => [item.attributes.get('id') ?? '', item]))
  const chapters = all(book, 'itemref').flatMap((reference) => {
    const href = items.get(reference.attributes.get('idref') ?? '')?.attributes.get('href')
    return href === undefined ? [] : [resolved(packagePath, href)]
  })
  const locked = lockedParts(archive)
  if (chapters.some((chapter) => locked.has(chapter))) throw new ReadFailure('The e-book is locked by copy protection.')
  const labels = chapterNames(archive, packagePath, [...items.values()])
  const writer = new MarkdownWriter()
  for (const chapter of chapters) {
    if (!archive.has(chapter)) continue
    const content = visible(parseHtml(partText(archive, chapter)))
    const label = labels.get(chapter)
    if (label !== undefined && !['h1', 'h2', 'h3'].some((name) => all(content, name).length > 0)) {
      writer.text(label)
      writer.heading(1)
    }
    writeHtml(content, writer)
    writer.paragraph()
  }
  const title = all(book, 'dc:title')[0]
  return { text: cleaned(writer.finish()), format: 'markdown', pages: [], title: title ? textOf(title).trim().slice(0, 300) || null : null }
}

function all(element: HtmlElement, name: string): HtmlElement[] {
  return element.children.flatMap((child) =>
    typeof child === 'string' ? [] : child.name === name ? [child, ...all(child, name)] : all(child, name),
  )
}

/** The archive's name of what a part refers to. */
function resolved(from: string, href: string): string {
  let path = href.replace(/[#?].*$/s, '')
  try {
    path = decodeURIComponent(path)
  } catch {
    // A stray percent sign is part of the name.
  }
  const parts = path.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join('/')
}

function lockedParts(archive: Archive): Set<string> {
  const encryption = parseHtml(partText(archive, 'META-INF/encryption.xml'))
  return new Set(
    [...all(encryption, 'cipherreference'), ...all(encryption, 'enc:cipherreference')].map(
      ({ attributes }) => attributes.get('URI') ?? attributes.get('uri') ?? '',
    ),
  )
}

/** What the table of contents calls each part, from either generation of tables. */
function chapterNames(archive: Archive, packagePath: string, items: HtmlElement[]): Map<string, string> {
  const names = new Map<string, string>()
  const learn = (from: string, href: string | undefined, label: string) => {
    const part = href === undefined ? '' : resolved(from, href)
    if (part !== '' && label.trim() !== '' && !names.has(part)) names.set(part, label.replaceAll(/\s+/g, ' ').trim())
  }
  for (const { attributes } of items) {
    const path = resolved(packagePath, attributes.get('href') ?? '')
    if (attributes.get('media-type') === 'application/x-dtbncx+xml') {
      for (const point of all(parseHtml(partText(archive, path)), 'navpoint')) {
        const [label, content] = [all(point, 'navlabel')[0], all(point, 'content')[0]]
        if (label) learn(path, content?.attributes.get('src'), textOf(label))
      }
    } else if (/\bnav\b/.test(attributes.get('properties') ?? '')) {
      for (const link of all(parseHtml(partText(archive, path)), 'a')) learn(path, link.attributes.get('href'), textOf(link))
    }
  }
  return names
}
