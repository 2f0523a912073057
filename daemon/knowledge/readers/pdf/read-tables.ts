/** Reads what a PDF says about tables: the texts of each page with their positions, and the tables of files that are tagged. */
import type { TextItem } from './lines.ts'
import { openPdf, type Pdf } from './read-pdf.ts'

export interface PdfPageContent {
  items: TextItem[]
  /** The rows of each table that the file marks as one. Word and LibreOffice write such files. */
  taggedTables: string[][][]
}

type PdfPage = Awaited<ReturnType<Pdf['getPage']>>
type StructTree = NonNullable<Awaited<ReturnType<PdfPage['getStructTree']>>>
type StructNode = StructTree['children'][number]

/** Pages that cannot be read have no texts. */
export async function* readPdfContent(bytes: Uint8Array): AsyncGenerator<PdfPageContent> {
  const pdf = await openPdf(bytes)
  try {
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await pdf.getPage(number).catch(() => undefined)
      yield (await page
        ?.getStructTree()
        .then((tree) => readPage(page, tree))
        .catch(() => undefined)) ?? { items: [], taggedTables: [] }
      page?.cleanup()
    }
  } finally {
    await pdf.destroy().catch(() => undefined)
  }
}

async function readPage(page: PdfPage, tree: StructTree | null): Promise<PdfPageContent> {
  const { items } = await page.getTextContent({ includeMarkedContent: true })
  const texts = new Map<string, string>()
  const open: string[] = []
  for (const item of items)
    if ('str' in item) {
      const id = open.at(-1) ?? ''
      texts.set(id, `${texts.get(id) ?? ''}${item.str}${item.hasEOL ? ' ' : ''}`)
    } else if (item.type === 'endMarkedContent') open.pop()
    else open.push(item.id ?? '')
  return { items: items.filter((item) => 'str' in item) as TextItem[], taggedTables: tree ? listTables(tree, texts) : [] }
}

const getChildren = (node: StructNode): StructNode[] => ('children' in node ? node.children : [])
const getRole = (node: StructNode): string => ('role' in node ? node.role : '')

/** Lists the rows of each table. Tables within tables are part of a cell. */
function listTables(node: StructNode, texts: ReadonlyMap<string, string>): string[][][] {
  if (getRole(node) !== 'Table') return getChildren(node).flatMap((child) => listTables(child, texts))
  return [listRows(node).map((row) => getChildren(row).map((cell) => readText(cell, texts).replaceAll(/\s+/g, ' ').trim()))]
}

const listRows = (node: StructNode): StructNode[] =>
  getChildren(node).flatMap((child) => (getRole(child) === 'TR' ? [child] : listRows(child)))

const readText = (node: StructNode, texts: ReadonlyMap<string, string>): string =>
  'id' in node && node.type === 'content'
    ? (texts.get(node.id) ?? '')
    : getChildren(node)
        .map((child) => readText(child, texts))
        .join(' ')
