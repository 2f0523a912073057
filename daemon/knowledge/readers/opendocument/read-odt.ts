/** Reads OpenDocument texts. */
import { cleanText, type ParsedDocument } from '../parsed-document.ts'
import { walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { describeUnreadObjects, findOpenDocumentTitle, readStyles } from './parts.ts'
import { TextConverter } from './text-converter.ts'

export function readOdt(archive: ZipArchive): ParsedDocument {
  const content = archive.readText('content.xml')
  const converter = new TextConverter(readStyles(content, readStyles(archive.readText('styles.xml'))))
  walkMarkup(content, 'xml', converter)
  const text = cleanText(converter.writer.finish())
  const notice = describeUnreadObjects(archive)
  return {
    text,
    format: 'markdown',
    pages: converter.pages.listPages(text),
    title: findOpenDocumentTitle(archive) ?? converter.writer.firstHeading,
    notice,
  }
}
