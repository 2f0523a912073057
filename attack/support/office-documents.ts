/** Hostile spreadsheets, presentations and texts: bombs, cycles, absurd structures and encrypted files. */
import { zip } from '../../test/knowledge/readers/document-fixtures.ts'
import { createRow, createWorkbookParts, loadFixture, renameStream } from '../../test/knowledge/readers/office/fixtures.ts'

const MB = 1024 * 1024
const openDocument = (kind: string, content: string | Uint8Array) =>
  zip({ mimetype: `application/vnd.oasis.opendocument.${kind}`, 'content.xml': content })

/** `deep` is the number of nested elements. */
export function createHostileOfficeDocuments(deep: number): Record<string, string | Uint8Array> {
  const blank = new Uint8Array(64 * MB)
  const repeated =
    '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384" ' +
    'office:value-type="string"><text:p>again</text:p></table:table-cell></table:table-row>'
  const merged =
    `<worksheet><sheetData>${createRow('a', 'b').repeat(1_000)}</sheetData>` +
    `<mergeCells>${'<mergeCell ref="A1:XFD1048576"/>'.repeat(10_000)}</mergeCells></worksheet>`
  const doc = loadFixture('rules.doc')
  return {
    'sheet-bomb.xlsx': zip(createWorkbookParts([''], { 'xl/worksheets/sheet1.xml': blank })),
    'strings-bomb.xlsx': zip(createWorkbookParts([''], { 'xl/sharedStrings.xml': blank })),
    'many-sheets.xlsx': zip(createWorkbookParts(Array<string>(1_001).fill(createRow('x', 'y')))),
    'merged.xlsx': zip(createWorkbookParts([''], { 'xl/worksheets/sheet1.xml': merged })),
    'unclosed.xlsx': zip(createWorkbookParts(['<row><c><v>1'.repeat(50_000)])),
    'entity.xlsx': zip(createWorkbookParts([`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${createRow('&e;', 'x')}`])),
    'bomb.ods': openDocument('spreadsheet', blank),
    'repeated.ods': openDocument(
      'spreadsheet',
      `<office:body><table:table table:name="a">${repeated.repeat(10)}</table:table></office:body>`,
    ),
    'bomb.odp': openDocument('presentation', blank),
    'deep.odt': openDocument('text', `${'<text:list><text:list-item>'.repeat(deep)}<text:p>Inside.</text:p>`),
    'deep.odp': openDocument('presentation', `<draw:page >${'<draw:g><table:table>'.repeat(deep)}<text:p>Inside.</text:p>`),
    'deep.rtf': `{\\rtf1${'{'.repeat(deep)}Inside.`,
    'binary.rtf': '{\\rtf1\\bin999999999 x}',
    'cyclic.doc': createCyclicDoc(doc),
    'encrypted.xlsx': renameStream(doc, 'WordDocument', 'EncryptedPackage'),
    'other.doc': renameStream(doc, 'WordDocument', 'Workbook'),
    'wrong-extension.pptx': loadFixture('budget.xlsx'),
  }
}

/** Every sector refers to itself. */
function createCyclicDoc(doc: Buffer): Buffer {
  const cyclic = Buffer.from(doc)
  const table = (cyclic.readUInt32LE(76) + 1) * 512
  for (let index = 0; index < 128; index++) cyclic.writeUInt32LE(index, table + index * 4)
  return cyclic
}
