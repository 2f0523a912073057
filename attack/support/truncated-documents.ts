/** A document of every kind, cut at each tenth of its length. */
import { readdirSync, readFileSync } from 'node:fs'
import { createPdf, docx, epub, paragraph } from '../../test/knowledge/readers/document-fixtures.ts'

const FIXTURES = ['recognition/fixtures/', 'readers/fixtures/', 'readers/samples/']

export function createTruncatedDocuments(): Record<string, Uint8Array> {
  const files: Record<string, Uint8Array> = {}
  for (const [name, bytes] of Object.entries(createWholeDocuments()))
    for (let tenth = 1; tenth < 10; tenth++) files[`${tenth}-tenths-${name}`] = bytes.slice(0, Math.floor((bytes.length * tenth) / 10))
  return files
}

function createWholeDocuments(): Record<string, Uint8Array> {
  const fixtures = FIXTURES.map((path) => new URL(`../../test/knowledge/${path}`, import.meta.url))
  const text = paragraph('The harbour has seven lanterns. ').repeat(50)
  return {
    ...Object.fromEntries(fixtures.flatMap((folder) => readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder))]))),
    'letter.docx': docx(text),
    'book.epub': epub({ one: text, two: text }),
    'report.pdf': createPdf([Buffer.from('BT /F1 12 Tf 72 700 Td (The harbour has seven lanterns.) Tj ET')]),
  }
}
