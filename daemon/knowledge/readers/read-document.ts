/** Reads a document of any supported type: turns bytes into text with pages and structure. */
import type { Recognition } from '../recognition/recognized-page.ts'
import { detectContainer } from './containers/container-kind.ts'
import { detectFileKind, detectTextKind, isBinary } from './detect-file-kind.ts'
import { decodeText } from './encoding/decode-text.ts'
import { readHtml } from './html/read-html.ts'
import { detectImageFormat } from './inspect-image.ts'
import { DocumentReadError, EMPTY_DOCUMENT_MESSAGE, type ParsedDocument } from './parsed-document.ts'
import { readTable } from './read-csv.ts'
import { readImage } from './read-image.ts'
import { readJson, readJsonLines } from './read-json.ts'
import { readText } from './read-text.ts'
import { readRst } from './rst/read-rst.ts'
import { findTextFormat } from './text-formats/text-format-types.ts'
import { ZipArchive } from './zip-archive.ts'

const NO_RECOGNITION: Recognition = { isEnabled: false, pages: [] }

/** @param recognition the pages that text recognition has read so far */
export async function readDocument(bytes: Uint8Array, name: string, recognition = NO_RECOGNITION): Promise<ParsedDocument> {
  if (bytes.length === 0) throw new DocumentReadError(EMPTY_DOCUMENT_MESSAGE)
  const document = await readBytes(bytes, name, recognition)
  const isEmpty = !/\S/.test(document.text) && !document.scans?.length
  if (isEmpty && document.skipReason === undefined) throw new DocumentReadError(EMPTY_DOCUMENT_MESSAGE)
  return document
}

async function readBytes(bytes: Uint8Array, name: string, recognition: Recognition): Promise<ParsedDocument> {
  const imageFormat = detectImageFormat(bytes)
  if (imageFormat) return readImage(bytes, imageFormat, recognition)
  const container = detectContainer(bytes, name)
  if (container) {
    const { readContainer } = await import('./containers/read-container.ts')
    const document = await readContainer(container, bytes, name)
    if (document) return document
  }
  const kind = detectFileKind(bytes)
  if (typeof kind === 'object') throw new DocumentReadError(kind.unsupported)
  if (kind === 'zip') return readArchive(bytes)
  if (kind === 'compound-file') return (await import('./doc/read-office-97.ts')).readOffice97(bytes)
  if (kind === 'rtf') return (await import('./rtf/read-rtf.ts')).readRtf(bytes)
  if (kind === 'pdf') {
    // Loaded on demand: the PDF library is large.
    const { readPdf } = await import('./pdf/read-pdf.ts')
    return readPdf(bytes, recognition)
  }
  const text = decodeText(bytes)
  if (isBinary(text))
    throw new DocumentReadError(/\.pdf$/i.test(name) ? 'The PDF is damaged: it has no PDF header.' : 'This is not a text document.')
  const format = findTextFormat(name)
  if (format) {
    const { readTextFormat } = await import('./text-formats/read-text-format.ts')
    const document = readTextFormat(text, format)
    if (document) return document
  }
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

/** Readers are loaded on demand: most folders have few of these formats. */
async function readArchive(bytes: Uint8Array): Promise<ParsedDocument> {
  const archive = new ZipArchive(bytes)
  if (archive.isEncrypted) throw new DocumentReadError('The document is password-protected.')
  if (archive.has('META-INF/container.xml')) return (await import('./read-epub.ts')).readEpub(archive)
  if (archive.has('mimetype') && archive.has('content.xml')) return readOpenDocument(archive)
  const hasFolder = (folder: string) => archive.names.some((part) => part.startsWith(folder))
  if (hasFolder('word/')) return (await import('./docx/read-docx.ts')).readDocx(archive)
  if (hasFolder('xl/')) return (await import('./spreadsheets/read-workbook.ts')).readXlsx(archive)
  if (hasFolder('ppt/')) return (await import('./presentations/read-pptx.ts')).readPptx(archive)
  throw new DocumentReadError('This is a zip archive, not a document.')
}

async function readOpenDocument(archive: ZipArchive): Promise<ParsedDocument> {
  const { requireUnencrypted } = await import('./opendocument/parts.ts')
  requireUnencrypted(archive)
  const type = /^application\/vnd\.oasis\.opendocument\.(\w+)/.exec(archive.readText('mimetype'))?.[1]
  switch (type) {
    case 'spreadsheet':
      return (await import('./spreadsheets/read-workbook.ts')).readOds(archive)
    case 'presentation':
      return (await import('./presentations/read-odp.ts')).readOdp(archive)
    case 'text':
      return (await import('./opendocument/read-odt.ts')).readOdt(archive)
    default:
      throw new DocumentReadError(`This is an OpenDocument file of the type ${type ?? 'unknown'}, which is not supported. Save it as .pdf.`)
  }
}
