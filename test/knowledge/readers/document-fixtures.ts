/** Generates PDF files, Word documents and e-books for tests. */
import { deflateRawSync } from 'node:zlib'

interface PdfOptions {
  /** Compression filters, in decoding order. */
  filter?: string
  pack?: (content: Buffer) => Buffer
  title?: string
  encrypted?: boolean
}

export interface PdfLine {
  text: string
  size?: number
  x?: number
  y: number
}

/** Creates a PDF with the given lines on each page. */
export function pdf(pages: PdfLine[][], options: PdfOptions = {}): Uint8Array {
  const contents = pages.map((lines) =>
    lines
      .map(({ text, size = 11, x = 72, y }) => `BT /F1 ${size} Tf ${x} ${y} Td (${text.replaceAll(/[()\\]/g, '\\$&')}) Tj ET`)
      .join('\n'),
  )
  return createPdf(
    contents.map((content) => Buffer.from(content, 'latin1')),
    options,
  )
}

/** Creates a PDF of two pages, each a passage. The second one says what a parking space costs. */
export function createOfficePdf(): Uint8Array {
  const describe = (subject: string) =>
    Array.from({ length: 48 }, (_, index) => `${subject} ${index + 1} is kept clean by those who use it.`)
  const pages = [describe('Room'), ['A parking space costs thirty euros a month.', ...describe('Space')]]
  return pdf(pages.map((lines) => lines.map((text, index) => ({ text, y: 740 - index * 14 }))))
}

/** Creates a PDF with the given content streams, one per page. */
export function createPdf(contents: Buffer[], { filter, pack, title, encrypted = false }: PdfOptions = {}): Uint8Array {
  const objects: Buffer[] = []
  const add = (text: string, stream?: Buffer) =>
    objects.push(stream ? Buffer.concat([Buffer.from(`${text}\nstream\n`), stream, Buffer.from('\nendstream')]) : Buffer.from(text))
  const kids = contents.map((_, index) => `${4 + index * 2} 0 R`).join(' ')
  add('<< /Type /Catalog /Pages 2 0 R >>')
  add(`<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>`)
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>')
  for (const [index, content] of contents.entries()) {
    add(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`)
    const packed = pack ? pack(content) : content
    add(`<< /Length ${packed.length}${filter ? ` /Filter ${filter}` : ''} >>`, packed)
  }
  add(`<< /Title (${title ?? ''}) >>`)
  const info = objects.length
  if (encrypted) add(`<< /Filter /Standard /V 1 /R 2 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> /P -4 >>`)
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  const offsets: number[] = []
  let length = parts[0]?.length ?? 0
  for (const [index, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')])
    offsets.push(length)
    parts.push(part)
    length += part.length
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const security = encrypted ? ` /Encrypt ${objects.length} 0 R /ID [<00> <00>]` : ''
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n` +
        `<< /Size ${objects.length + 1} /Root 1 0 R /Info ${info} 0 R${security} >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  )
  return new Uint8Array(Buffer.concat(parts))
}

/** Creates a zip archive. Content that is used several times is compressed once. */
export function zip(parts: Record<string, string | Uint8Array>): Uint8Array {
  const packed = new Map<string | Uint8Array, Buffer>()
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, part] of Object.entries(parts)) {
    const content = packed.get(part) ?? deflateRawSync(part)
    packed.set(part, content)
    // Both headers share the fields from the flags to the length of the extra field. The checksum stays 0.
    const fields = Buffer.alloc(24)
    fields.writeUInt16LE(8, 2)
    fields.writeUInt32LE(content.length, 12)
    fields.writeUInt32LE(Buffer.byteLength(part), 16)
    fields.writeUInt16LE(Buffer.byteLength(name), 20)
    const file = Buffer.concat([Buffer.from('PK\x03\x04\x14\x00', 'latin1'), fields, Buffer.from(name), content])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00\x14\x00', 'latin1'), fields, place, Buffer.from(name))
    files.push(file)
    offset += file.length
  }
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(
    directory.reduce((sum, { length }) => sum + length, 0),
    8,
  )
  end.writeUInt32LE(offset, 12)
  return new Uint8Array(Buffer.concat([...files, ...directory, Buffer.from('PK\x05\x06', 'latin1'), end]))
}

/** Creates a Word document with the given body. */
export function docx(body: string, parts: Record<string, string> = {}): Uint8Array {
  return zip({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels':
      '<Relationships><Relationship Id="r1" ' +
      'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ' +
      'Target="word/document.xml"/></Relationships>',
    'word/document.xml': `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`,
    ...parts,
  })
}

export const paragraph = (text: string, properties = '') =>
  `<w:p>${properties && `<w:pPr>${properties}</w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`

/** Creates an e-book with the given chapters in order. */
export function epub(chapters: Record<string, string>, parts: Record<string, string> = {}): Uint8Array {
  const names = Object.keys(chapters)
  const items = names.map((name) => `<item id="${name}" href="${name}.xhtml" media-type="application/xhtml+xml"/>`).join('')
  const references = names.map((name) => `<itemref idref="${name}"/>`).join('')
  const points = names
    .map((name) => `<navPoint><navLabel><text>Chapter ${name}</text></navLabel><content src="${name}.xhtml"/></navPoint>`)
    .join('')
  return zip({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    'OEBPS/book.opf':
      `<package><metadata><dc:title>A Book</dc:title></metadata><manifest>${items}` +
      `<item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest><spine>${references}</spine></package>`,
    'OEBPS/toc.ncx': `<ncx><navMap>${points}</navMap></ncx>`,
    ...Object.fromEntries(
      names.map((name) => [`OEBPS/${name}.xhtml`, `<html><head><title>${name}</title></head><body>${chapters[name]}</body></html>`]),
    ),
    ...parts,
  })
}
