/** Reads the rows of an xlsx sheet from its XML, a megabyte at a time: a large sheet has a hundred megabytes of it. */
import { decodeXML } from 'entities'
import { decodeText, toBuffer } from '../encoding/decode-text.ts'
import type { MergedRange } from './merged-cells.ts'
import { formatGeneral, type NumberFormat } from './number-format.ts'
import { type Cell, MAX_COLUMNS, parseColumn, type Row } from './workbook.ts'

export interface CellContext {
  getString(index: number): string
  /** Number format by the style of a cell; undefined for numbers without a format. */
  formats: readonly (NumberFormat | undefined)[]
  /** Called for a formula without a stored result. */
  onMissingResult(): void
}

const SLICE_BYTES = 1024 * 1024
/** A row is at most as long as the cells of all columns need. */
const MAX_ROW_BYTES = 32 * 1024 * 1024

/** Returns a part of a workbook as UTF-8. */
export function encodeAsUtf8(bytes: Uint8Array): Buffer {
  // UTF-16 has a byte order mark or a zero byte in its first two characters.
  const isUtf16 = bytes[0] === 0 || bytes[1] === 0 || (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  return isUtf16 ? Buffer.from(decodeText(bytes)) : toBuffer(bytes)
}

/** Yields the text in slices that end with a closing tag. The last slice is what remains. */
export function* sliceAtTag(buffer: Buffer, tag: string): Generator<string> {
  const end = Buffer.from(tag)
  for (let from = 0; from < buffer.length; ) {
    const limit = from + SLICE_BYTES
    let cut = limit >= buffer.length ? -1 : buffer.subarray(from, limit).lastIndexOf(end)
    if (cut >= 0) cut += from
    else if (limit < buffer.length) {
      cut = buffer.subarray(0, Math.min(buffer.length, limit + MAX_ROW_BYTES)).indexOf(end, limit - end.length)
    }
    const to = cut < 0 ? buffer.length : cut + end.length
    yield buffer.toString('utf8', from, to)
    from = to
  }
}

/** The names of elements can have a prefix: <x:row>. */
function findPrefix(buffer: Buffer): string {
  return /<(\w{1,20}:)?worksheet[\s>]/.exec(buffer.toString('latin1', 0, 4_096))?.[1] ?? ''
}

export function* readXlsxRows(buffer: Buffer, context: CellContext): Generator<Row> {
  const prefix = findPrefix(buffer)
  const start = buffer.indexOf(`<${prefix}sheetData`)
  const end = buffer.indexOf(`</${prefix}sheetData>`)
  if (start < 0) return
  const data = buffer.subarray(start, end < 0 ? buffer.length : end)
  const scanner = new RowScanner(prefix, context)
  for (const slice of sliceAtTag(data, `</${prefix}row>`)) yield* scanner.scan(slice)
}

class RowScanner {
  readonly #context: CellContext
  readonly #prefix: string
  readonly #cellEnd: string
  #number = 0

  constructor(prefix: string, context: CellContext) {
    this.#prefix = prefix
    this.#cellEnd = `</${prefix}c>`
    this.#context = context
  }

  /** A slice consists of whole rows. */
  *scan(text: string): Generator<Row> {
    const nameOffset = 1 + this.#prefix.length
    let cells: Cell[] = []
    let column = -1
    for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
      const name = at + nameOffset
      const isRow = text.startsWith('row', name)
      const isCell = !isRow && text[name] === 'c' && !(text.charCodeAt(name + 1) > 0x3e)
      if (!isRow && !isCell) {
        at++
        continue
      }
      const tagEnd = text.indexOf('>', name)
      if (tagEnd < 0) break
      const attributes = text.slice(name + 1, tagEnd)
      if (isRow) {
        if (cells.length > 0) yield { number: this.#number, cells }
        cells = []
        column = -1
        this.#number = Number(/\sr=["'](\d+)/.exec(attributes)?.[1] ?? this.#number + 1)
        at = tagEnd
        continue
      }
      const reference = /\sr=["']([A-Z]+)/.exec(attributes)?.[1]
      column = reference === undefined ? column + 1 : parseColumn(reference)
      at = tagEnd
      if (text.charCodeAt(tagEnd - 1) === 0x2f) continue
      const end = text.indexOf(this.#cellEnd, tagEnd)
      if (end < 0) break
      const cell = column < MAX_COLUMNS ? this.#readCell(column, attributes, text.slice(tagEnd + 1, end)) : undefined
      if (cell) cells.push(cell)
      at = end
    }
    if (cells.length > 0) yield { number: this.#number, cells }
  }

  #readCell(column: number, attributes: string, content: string): Cell | undefined {
    const type = /\st=["'](\w+)/.exec(attributes)?.[1] ?? 'n'
    const source = type === 'inlineStr' ? content : findValue(content)
    if (source === undefined || source === '') {
      if (content.includes(`<${this.#prefix}f`)) this.#context.onMissingResult()
      return undefined
    }
    if (type === 'n') return this.#createNumber(column, Number(source), attributes)
    const text = this.#readText(type, source).trim()
    return text === '' ? undefined : { column, text, value: type === 'b' ? text === 'TRUE' : text, isDate: type === 'd', isRepeated: false }
  }

  #readText(type: string, source: string): string {
    if (type === 's') return this.#context.getString(Number(source))
    if (type === 'inlineStr') return readRichText(source)
    if (type === 'b') return source === '1' || source === 'true' ? 'TRUE' : 'FALSE'
    return decodeXML(source)
  }

  #createNumber(column: number, number: number, attributes: string): Cell | undefined {
    if (Number.isNaN(number)) return undefined
    const format = this.#context.formats[Number(/\ss=["'](\d+)/.exec(attributes)?.[1] ?? 0)]
    if (!format) return { column, text: formatGeneral(number), value: number, isDate: false, isRepeated: false }
    const { text, value, isDate } = format(number)
    const shown = text.trim()
    return shown === '' ? undefined : { column, text: shown, value, isDate, isRepeated: false }
  }
}

/** Returns the content of <v>, with any prefix. */
function findValue(content: string): string | undefined {
  const end = content.lastIndexOf('</')
  if (end < 0 || !(content.endsWith('v>') || content.indexOf('v>', end) > 0)) return undefined
  const start = content.lastIndexOf('>', end - 1) + 1
  return content.slice(start, end)
}

/** Joins the <t> elements; the pronunciation of Japanese text (<rPh>) is not shown. */
export function readRichText(xml: string): string {
  const shown = xml.includes('rPh')
    ? xml.replaceAll(/<(\w{1,20}:)?rPh[\s>](?:(?!<\/(?:\w{1,20}:)?rPh>)[\s\S])*<\/(?:\w{1,20}:)?rPh>/g, '')
    : xml
  let text = ''
  for (let at = findTextTag(shown, 0); at >= 0; at = findTextTag(shown, at)) {
    const start = shown.indexOf('>', at) + 1
    if (start === 0) break
    const end = shown.indexOf('</', start)
    if (shown.charCodeAt(start - 2) !== 0x2f) text += shown.slice(start, end < 0 ? undefined : end)
    at = end < 0 ? shown.length : end
  }
  return text.includes('&') || text.includes('_x') ? decodeEscapes(decodeXML(text)) : text
}

const TEXT_TAG = /<(?:\w{1,20}:)?t[\s/>]/g

function findTextTag(xml: string, from: number): number {
  TEXT_TAG.lastIndex = from
  return TEXT_TAG.exec(xml)?.index ?? -1
}

/** Control characters are written as _x000D_. */
const decodeEscapes = (text: string): string =>
  text.replaceAll(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** Lists the merged cells, which follow the rows. */
export function listMergedRanges(buffer: Buffer): MergedRange[] {
  const prefix = findPrefix(buffer)
  const start = buffer.lastIndexOf(`<${prefix}mergeCells`)
  if (start < 0) return []
  const end = buffer.indexOf(`</${prefix}mergeCells>`, start)
  const xml = buffer.toString('latin1', start, end < 0 ? buffer.length : end)
  return [...xml.matchAll(/\sref=["']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})["']/g)].map(([, left = '', top, right = '', bottom]) => ({
    firstRow: Number(top),
    lastRow: Number(bottom),
    firstColumn: parseColumn(left),
    lastColumn: parseColumn(right),
  }))
}
