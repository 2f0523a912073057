/** Reads e-books (EPUB): the chapters in reading order. */
import { findElement, type HtmlElement, listDescendants, parseHtml } from './html/parse-html.ts'
import { getText, removeHidden } from './html/read-html.ts'
import { writeHtml } from './html/write-html.ts'
import { MarkdownWriter } from './markdown-writer.ts'
import { cleanText, DocumentReadError, type ParsedDocument } from './parsed-document.ts'
import { resolvePartName, type ZipArchive } from './zip-archive.ts'

export function readEpub(archive: ZipArchive): ParsedDocument {
  const container = parseHtml(archive.readText('META-INF/container.xml'))
  const packagePath = findElement(container, 'rootfile')?.attributes.get('full-path')
  if (packagePath === undefined || !archive.has(packagePath))
    throw new DocumentReadError('The e-book is damaged: its package document is missing.')
  const book = parseHtml(archive.readText(packagePath))
  const items = new Map(findElements(book, 'item').map((item) => [item.attributes.get('id') ?? '', item]))
  const chapters = findElements(book, 'itemref').flatMap((reference) => {
    const href = items.get(reference.attributes.get('idref') ?? '')?.attributes.get('href')
    return href === undefined ? [] : [resolvePath(packagePath, href)]
  })
  const encrypted = listEncryptedParts(archive)
  if (chapters.some((chapter) => encrypted.has(chapter))) throw new DocumentReadError('The e-book is protected by DRM.')
  const titles = readChapterTitles(archive, packagePath, [...items.values()])
  const writer = new MarkdownWriter()
  for (const chapter of chapters) {
    if (!archive.has(chapter)) continue
    const content = removeHidden(parseHtml(archive.readText(chapter)))
    const label = titles.get(chapter)
    if (label !== undefined && !['h1', 'h2', 'h3'].some((name) => findElement(content, name))) {
      writer.writeText(label)
      writer.endHeading(1)
    }
    writeHtml(content, writer)
    writer.endParagraph()
  }
  const title = findElement(book, 'dc:title')
  return {
    text: cleanText(writer.finish()),
    format: 'markdown',
    pages: [],
    title: title ? getText(title).trim().slice(0, 300) || null : null,
  }
}

const findElements = (element: HtmlElement, name: string): HtmlElement[] =>
  [...listDescendants(element)].filter((descendant) => descendant.name === name)

function resolvePath(from: string, href: string): string {
  const path = href.replace(/[#?].*$/s, '')
  try {
    return resolvePartName(from, decodeURIComponent(path))
  } catch {
    return resolvePartName(from, path) // not percent-encoded
  }
}

function listEncryptedParts(archive: ZipArchive): Set<string> {
  const encryption = parseHtml(archive.readText('META-INF/encryption.xml'))
  return new Set(
    [...findElements(encryption, 'cipherreference'), ...findElements(encryption, 'enc:cipherreference')].map(
      ({ attributes }) => attributes.get('URI') ?? attributes.get('uri') ?? '',
    ),
  )
}

/** Returns the title of each part from the table of contents (EPUB 2 or 3). */
function readChapterTitles(archive: ZipArchive, packagePath: string, items: HtmlElement[]): Map<string, string> {
  const titles = new Map<string, string>()
  const addTitle = (from: string, href: string | undefined, label: string) => {
    const part = href === undefined ? '' : resolvePath(from, href)
    if (part !== '' && label.trim() !== '' && !titles.has(part)) titles.set(part, label.replaceAll(/\s+/g, ' ').trim())
  }
  for (const { attributes } of items) {
    const path = resolvePath(packagePath, attributes.get('href') ?? '')
    if (attributes.get('media-type') === 'application/x-dtbncx+xml') {
      for (const point of findElements(parseHtml(archive.readText(path)), 'navpoint')) {
        const [label, content] = [findElement(point, 'navlabel'), findElement(point, 'content')]
        if (label) addTitle(path, content?.attributes.get('src'), getText(label))
      }
    } else if (/\bnav\b/.test(attributes.get('properties') ?? '')) {
      for (const link of findElements(parseHtml(archive.readText(path)), 'a')) addTitle(path, link.attributes.get('href'), getText(link))
    }
  }
  return titles
}
