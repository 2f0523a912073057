/** Office documents that LibreOffice 7.4 saved, and changes that make them hostile. */
import { readFileSync } from 'node:fs'
import { DocumentReadError } from '../../../../daemon/knowledge/readers/parsed-document.ts'
import { read } from '../read-fixture.ts'

export const OFFICE_FIXTURES = [
  ...['budget.xlsx', 'budget.xlsm', 'budget.ods'],
  ...['expansion.pptx', 'expansion.odp', 'rules.odt', 'rules.rtf', 'rules.doc'],
] as const

export const loadFixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/${name}`, import.meta.url))

/** Reads all parts of a document. */
export async function readParts(content: Uint8Array, name: string): Promise<string[]> {
  const { text, rest } = await read(content, name)
  return [text, ...Array.from(rest?.() ?? [], (part) => part.text)]
}

/** Returns all text of a document, or why it cannot be read. */
export async function describeOutcome(content: Uint8Array, name: string): Promise<{ text?: string; reason?: string; notice?: string }> {
  try {
    const { notice } = await read(content, name)
    return { text: (await readParts(content, name)).join('\n\n'), ...(notice === undefined ? {} : { notice }) }
  } catch (error) {
    if (error instanceof DocumentReadError) return { reason: error.message }
    throw error
  }
}

/** Replaces the name of a stream in the directory of a compound file. */
export function renameStream(container: Buffer, from: string, to: string): Buffer {
  const renamed = Buffer.from(container)
  const entry = renamed.indexOf(Buffer.from(from, 'utf16le'))
  renamed.fill(0, entry, entry + 64)
  renamed.write(to, entry, 'utf16le')
  renamed.writeUInt16LE((to.length + 1) * 2, entry + 64)
  return renamed
}

const RELATIONSHIP = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

export const createRelationships = (targets: Record<string, string>): string =>
  `<Relationships>${Object.entries(targets)
    .map(([target, type], index) => `<Relationship Id="r${index + 1}" Type="${RELATIONSHIP}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`

/** Creates the parts of a workbook with one sheet for each given XML of rows. */
export function createWorkbookParts(
  sheets: readonly string[],
  parts: Record<string, string | Uint8Array> = {},
): Record<string, string | Uint8Array> {
  const targets = Object.fromEntries(sheets.map((_, index) => [`worksheets/sheet${index + 1}.xml`, 'worksheet']))
  const list = sheets.map((_, index) => `<sheet name="Sheet ${index + 1}" sheetId="${index + 1}" r:id="r${index + 1}"/>`).join('')
  return {
    '_rels/.rels': createRelationships({ 'xl/workbook.xml': 'officeDocument' }),
    'xl/workbook.xml': `<workbook><sheets>${list}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': createRelationships({ ...targets, 'styles.xml': 'styles', 'sharedStrings.xml': 'sharedStrings' }),
    ...Object.fromEntries(
      sheets.map((rows, index) => [`xl/worksheets/sheet${index + 1}.xml`, `<worksheet><sheetData>${rows}</sheetData></worksheet>`]),
    ),
    'xl/styles.xml': '<styleSheet/>',
    'xl/sharedStrings.xml': '<sst/>',
    ...parts,
  }
}

/** Creates the XML of a row with texts and numbers. */
export const createRow = (...values: (string | number)[]): string =>
  `<row>${values
    .map((value) => (typeof value === 'number' ? `<c><v>${value}</v></c>` : `<c t="inlineStr"><is><t>${value}</t></is></c>`))
    .join('')}</row>`
