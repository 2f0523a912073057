/** Reads OpenDocument texts. */
import type { ParsedDocument } from '../parsed-document.ts'
import { walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { describeUnreadObjects, findOpenDocumentTitle, readStyles } from './parts.ts'
import { TextConverter } from './text-converter.ts'

export function readOdt(archive: ZipArchive): ParsedDocument {
  const content = archive.readText('content.xml')
  const converter = new TextConverter(readStyles(content, readStyles(archive.readText('styles.xml'))))
  walkMarkup(content, 'xml', converter)
  return converter.writer.finishDocument(findOpenDocumentTitle(archive), describeUnreadObjects(archive))
}
