/** Reads Office documents from before 2007. Newer ones are in the same container if they are encrypted. */
import { DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { OleContainer } from './ole-container.ts'
import { readDoc } from './read-doc.ts'

export function readOle(bytes: Uint8Array): ParsedDocument {
  const container = new OleContainer(bytes)
  const names = new Set(container.listNames())
  if (names.has('EncryptedPackage')) throw new DocumentReadError('The document is password-protected.')
  if (names.has('WordDocument')) return readDoc(container)
  if (names.has('Workbook') || names.has('Book'))
    throw new DocumentReadError('This is an Excel 97-2003 workbook (.xls), which is not supported. Save it as .xlsx.')
  if (names.has('PowerPoint Document'))
    throw new DocumentReadError('This is a PowerPoint 97-2003 presentation (.ppt), which is not supported. Save it as .pptx.')
  throw new DocumentReadError('This is an Office 97-2003 file of an unknown type, which is not supported. Save it in a newer format.')
}
