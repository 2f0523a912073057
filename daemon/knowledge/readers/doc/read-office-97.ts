/** Reads Office documents from before 2007. Newer ones are in a compound file, too, if they are encrypted. */
import { readCompoundFile } from '../compound-file.ts'
import { DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { readDoc } from './read-doc.ts'

export function readOffice97(bytes: Uint8Array): ParsedDocument {
  const root = readCompoundFile(bytes)
  const { streams } = root
  if (streams.has('EncryptedPackage')) throw new DocumentReadError('The document is password-protected.')
  if (streams.has('WordDocument')) return readDoc(root)
  if (streams.has('Workbook') || streams.has('Book'))
    throw new DocumentReadError('This is an Excel 97-2003 workbook (.xls), which is not supported. Save it as .xlsx.')
  if (streams.has('PowerPoint Document'))
    throw new DocumentReadError('This is a PowerPoint 97-2003 presentation (.ppt), which is not supported. Save it as .pptx.')
  throw new DocumentReadError('This is an Office 97-2003 file of an unknown type, which is not supported. Save it in a newer format.')
}
