/** Reads a document of any kind that Cadre knows: bytes in, text with pages and structure out. */

import { kindOf, looksBinary, textKindOf } from './detect-type.ts'
import { EMPTY, type ReadDocument, ReadFailure } from './document.ts'
import { readDocx } from './docx/docx.ts'
import { decode } from './encoding/detect-encoding.ts'
import { readEpub } from './epub.ts'
import { readHtml } from './html/html.ts'
import { readJson, readJsonLines } from './json.ts'
import { readTable } from './tables.ts'
import { readRst, readText } from './text.ts'
import { Archive } from './zip.ts'

export { type ReadDocument, ReadFailure } from './document.ts'

export async function readDocument(bytes: Uint8Array, name: string): Promise<ReadDocument> {
  if (bytes.length === 0) throw new ReadFailure(EMPTY)
  const document = await read(bytes, name)
  if (!/\S/.test(document.text)) throw new ReadFailure(EMPTY)
  return document
}

async function read(bytes: Uint8Array, name: string): Promise<ReadDocument> {
  const kind = kindOf(bytes)
  if (typeof kind === 'object') throw new ReadFailure(kind.refused)
  if (kind === 'zip') return readArchive(bytes)
  if (kind === 'pdf') {
    // The PDF reader is the largest of all; who reads none need not load it.
    const { readPdf } = await import('./pdf/pdf.ts')
    return readPdf(bytes)
  }
  const { text } = decode(bytes)
  if (looksBinary(text))
    throw new ReadFailure(/\.pdf$/i.test(name) ? 'The PDF is damaged: it does not start as a PDF does.' : 'This is not a text document.')
  return readAs(text, name)
}

function readAs(text: string, name: string): ReadDocument {
  switch (textKindOf(text, name)) {
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
    case 'markdown':
      return readText(text, 'markdown')
    case 'code':
      return readText(text, 'code')
    case 'plain':
      return readText(text, 'plain')
  }
}

function readArchive(bytes: Uint8Array): ReadDocument {
  const archive = new Archive(bytes)
  if (archive.encrypted) throw new ReadFailure('The document is protected with a password.')
  if (archive.has('META-INF/container.xml')) return readEpub(archive)
  if (archive.names.some((part) => part.startsWith('word/'))) return readDocx(archive)
  if (archive.names.some((part) => part.startsWith('xl/')))
    throw new ReadFailure('This is a spreadsheet, which is not read; save it as .csv.')
  if (archive.names.some((part) => part.startsWith('ppt/')))
    throw new ReadFailure('This is a presentation, which is not read; save it as .pdf.')
  if (archive.has('mimetype') && archive.has('content.xml'))
    throw new ReadFailure('This is an OpenDocument file, which is not read; save it as .docx or .pdf.')
  throw new ReadFailure('This is a zip archive, not a document.')
}
