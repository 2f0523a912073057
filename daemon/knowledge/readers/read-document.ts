/** Reads a document of any supported type: turns bytes into text with pages and structure. */
import { detectFileKind, detectTextKind, isBinary } from './detect-file-kind.ts'
import { readDocx } from './docx/read-docx.ts'
import { decodeText } from './encoding/decode-text.ts'
import { readHtml } from './html/read-html.ts'
import { DocumentReadError, EMPTY_DOCUMENT_MESSAGE, type ParsedDocument } from './parsed-document.ts'
import { readEpub } from './read-epub.ts'
import { readJson, readJsonLines } from './read-json.ts'
import { readTable } from './read-table.ts'
import { readRst, readText } from './read-text.ts'
import { ZipArchive } from './zip-archive.ts'

export async function readDocument(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  if (bytes.length === 0) throw new DocumentReadError(EMPTY_DOCUMENT_MESSAGE)
  const document = await readBytes(bytes, name)
  if (!/\S/.test(document.text)) throw new DocumentReadError(EMPTY_DOCUMENT_MESSAGE)
  return document
}

async function readBytes(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  const kind = detectFileKind(bytes)
  if (typeof kind === 'object') throw new DocumentReadError(kind.unsupported)
  if (kind === 'zip') return readArchive(bytes)
  if (kind === 'pdf') {
    // Loaded on demand: the PDF library is large.
    const { readPdf } = await import('./pdf/read-pdf.ts')
    return readPdf(bytes)
  }
  const text = decodeText(bytes)
  if (isBinary(text))
    throw new DocumentReadError(/\.pdf$/i.test(name) ? 'The PDF is damaged: it has no PDF header.' : 'This is not a text document.')
  return readDecodedText(text, name)
}

function readDecodedText(text: string, name: string): ParsedDocument {
  const kind = detectTextKind(text, name)
  switch (kind) {
    case 'html':
      return readHtml(text)
    case 'table':
      return readTable(text, name)
    case 'json':
      return readJson(text)
    case 'lines':
      return readJsonLines(text)
    case 'rst':
      return readRst(text)
    default:
      return readText(text, kind)
  }
}

function readArchive(bytes: Uint8Array): ParsedDocument {
  const archive = new ZipArchive(bytes)
  if (archive.isEncrypted) throw new DocumentReadError('The document is password-protected.')
  if (archive.has('META-INF/container.xml')) return readEpub(archive)
  const hasFolder = (folder: string) => archive.names.some((part) => part.startsWith(folder))
  if (hasFolder('word/')) return readDocx(archive)
  if (hasFolder('xl/')) throw new DocumentReadError('This is a spreadsheet, which is not supported. Save it as .csv.')
  if (hasFolder('ppt/')) throw new DocumentReadError('This is a presentation, which is not supported. Save it as .pdf.')
  if (archive.has('mimetype') && archive.has('content.xml'))
    throw new DocumentReadError('This is an OpenDocument file, which is not supported. Save it as .docx or .pdf.')
  throw new DocumentReadError('This is a zip archive, not a document.')
}
