/** Opens xlsx and xlsm workbooks: their sheets, texts, number formats and comments. */

import { describeUnreadParts, findAttribute, findMainPart, findTitle, listRelationships } from '../open-package.ts'
import { DocumentReadError } from '../parsed-document.ts'
import { walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { repeatMergedCells } from './merged-cells.ts'
import { compileNumberFormat, findBuiltInFormat, type NumberFormat } from './number-format.ts'
import { MAX_COMMENT_LENGTH, parseColumn, type Row, requireSheetLimit, type Sheet, type Workbook } from './workbook.ts'
import { type CellContext, encodeAsUtf8, listMergedRanges, readRichText, readXlsxRows } from './xlsx-rows.ts'

const UNREAD_PARTS: [RegExp, string][] = [
  [/\/vbaProject\.bin$/, 'macros'],
  [/\/charts\//, 'charts'],
  [/\/media\//, 'images'],
  [/\/externalLinks\//, 'links to other workbooks'],
]
const MISSING_RESULTS = 'Formulas without a stored result were not read: open the workbook in a spreadsheet program and save it.'

export function openXlsx(archive: ZipArchive): Workbook {
  const main = findMainPart(archive, 'xl/workbook.xml')
  if (main === undefined) throw new DocumentReadError('The workbook is damaged: its main part is missing.')
  if (main.endsWith('.bin')) throw new DocumentReadError('This is a binary workbook (.xlsb), which is not supported. Save it as .xlsx.')
  const relationships = listRelationships(archive, main)
  const { sheets, isDate1904 } = readWorkbookPart(archive.readText(main))
  const findPart = (type: string) => relationships.find((relationship) => relationship.type === type)?.target ?? ''
  let isMissingResults = false
  const context: CellContext = {
    getString: createStringTable(archive.readText(findPart('sharedStrings'))),
    formats: readFormats(archive.readText(findPart('styles')), isDate1904),
    onMissingResult: () => {
      isMissingResults = true
    },
  }
  const opened = sheets.flatMap(({ name, isHidden, relationshipId }): Sheet[] => {
    const part = relationships.find(({ id, type }) => id === relationshipId && type === 'worksheet')?.target
    if (part === undefined) return [] // a chart on its own sheet
    return [{ name, isHidden, readRows: () => readSheet(archive, part, context), comments: readComments(archive, part) }]
  })
  if (opened.length === 0) throw new DocumentReadError('The workbook is damaged: none of its sheets can be found.')
  return {
    sheets: opened,
    title: findTitle(archive),
    describeUnread: () =>
      [describeUnreadParts(archive.names, UNREAD_PARTS), isMissingResults ? MISSING_RESULTS : undefined].filter(Boolean).join(' '),
  }
}

interface SheetEntry {
  name: string
  isHidden: boolean
  relationshipId: string
}

function readWorkbookPart(xml: string): { sheets: SheetEntry[]; isDate1904: boolean } {
  const sheets: SheetEntry[] = []
  let isDate1904 = false
  walkMarkup(xml, 'office', {
    open(tag, attributes) {
      if (tag === 'workbookPr') isDate1904 = ['1', 'true'].includes(findAttribute(attributes, 'date1904') ?? '')
      if (tag !== 'sheet') return
      const state = findAttribute(attributes, 'state') ?? 'visible'
      const relationshipId = /\s[\w.-]+:id=["']([^"']+)/.exec(attributes)?.[1] ?? ''
      sheets.push({ name: findAttribute(attributes, 'name') ?? '', isHidden: state !== 'visible', relationshipId })
    },
  })
  requireSheetLimit(sheets.length)
  return { sheets, isDate1904 }
}

function* readSheet(archive: ZipArchive, part: string, context: CellContext): Generator<Row> {
  const buffer = encodeAsUtf8(archive.readTransient(part))
  yield* repeatMergedCells(readXlsxRows(buffer, context), listMergedRanges(buffer))
}

/** Texts are decoded when they are needed, because a workbook can have millions. */
function createStringTable(xml: string): (index: number) => string {
  const starts: number[] = []
  const tag = /<(?:\w{1,20}:)?si[\s/>]/g
  for (let match = tag.exec(xml); match; match = tag.exec(xml)) starts.push(match.index)
  const decoded: string[] = []
  return (index) => {
    const known = decoded[index]
    if (known !== undefined) return known
    const start = starts[index]
    const text = start === undefined ? '' : readRichText(xml.slice(start, starts[index + 1] ?? xml.length))
    if (start !== undefined) decoded[index] = text
    return text
  }
}

/** Returns the number format of every cell style. */
function readFormats(xml: string, isDate1904: boolean): (NumberFormat | undefined)[] {
  const codes = new Map<number, string>()
  const formats: (NumberFormat | undefined)[] = []
  const compiled = new Map<string, NumberFormat | undefined>()
  const compile = (code: string) => {
    if (!compiled.has(code)) compiled.set(code, /^general$/i.test(code) ? undefined : compileNumberFormat(code, isDate1904))
    return compiled.get(code)
  }
  let inCellStyles = false
  walkMarkup(xml, 'office', {
    open(tag, attributes) {
      const id = () => Number(findAttribute(attributes, 'numFmtId') ?? 0)
      if (tag === 'numFmt') codes.set(id(), findAttribute(attributes, 'formatCode') ?? '')
      else if (tag === 'cellXfs') inCellStyles = true
      else if (tag === 'xf' && inCellStyles) formats.push(compile(codes.get(id()) ?? findBuiltInFormat(id())))
    },
    close(tag) {
      if (tag === 'cellXfs') inCellStyles = false
    },
  })
  return formats
}

function readComments(archive: ZipArchive, sheet: string): Map<string, string> {
  const comments = new Map<string, string>()
  const part = listRelationships(archive, sheet).find(({ type }) => type === 'comments')?.target
  if (part === undefined) return comments
  let key = ''
  let text = ''
  let inText = false
  walkMarkup(archive.readText(part), 'office', {
    open(tag, attributes) {
      if (tag === 'comment') {
        const [, column = '', row = ''] = /^([A-Z]+)(\d+)/.exec(findAttribute(attributes, 'ref') ?? '') ?? []
        key = `${row}:${parseColumn(column)}`
        text = ''
      } else if (tag === 't') inText = true
    },
    close(tag) {
      if (tag === 't') inText = false
      else if (tag === 'comment') comments.set(key, cleanComment(text))
    },
    text(part) {
      if (inText) text += part
    },
  })
  return comments
}

/** Threaded comments are stored a second time for older programs, below a note that says so. */
const cleanComment = (text: string): string =>
  text
    .replace(/^\[Threaded comment\][\s\S]*?\nComment:\s*/, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_COMMENT_LENGTH)
