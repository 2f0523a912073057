/** Reads the formatting of a Word 97-2003 document: the properties of paragraphs and characters, styles and lists. */

export interface ParagraphProperties {
  style: number
  isInTable: boolean
  isRowEnd: boolean
  /** Heading level minus one; 9 for text. */
  outline: number | undefined
  list: number
  level: number
  breaksPage: boolean
}

interface Run<T> {
  /** Byte offsets in the main stream. */
  start: number
  end: number
  properties: T
}

const PAGE_LENGTH = 512
/** Operand sizes by the three highest bits of a property code; 6 has a variable size. */
const OPERAND_SIZES = [1, 1, 2, 4, 2, 2, 0, 3]
const TABLE_DEFINITION = 0xd608
const MAX_STYLE_DEPTH = 10

/** Calls `handle` with the code and the first operand byte or number of every property. */
function walkProperties(bytes: Buffer, handle: (code: number, operand: number) => void): void {
  for (let offset = 0; offset + 3 <= bytes.length; ) {
    const code = bytes.readUInt16LE(offset)
    offset += 2
    const kind = code >> 13
    let size = OPERAND_SIZES[kind] as number
    if (kind === 6)
      size = code === TABLE_DEFINITION && offset + 2 <= bytes.length ? bytes.readUInt16LE(offset) + 1 : bytes.readUInt8(offset) + 1
    if (offset + size > bytes.length) return
    handle(code, kind === 2 || kind === 4 || kind === 5 ? bytes.readInt16LE(offset) : bytes.readUInt8(offset))
    offset += size
  }
}

export const createProperties = (): ParagraphProperties => ({
  style: 0,
  isInTable: false,
  isRowEnd: false,
  outline: undefined,
  list: 0,
  level: 0,
  breaksPage: false,
})

function readParagraphProperties(bytes: Buffer, properties: ParagraphProperties): void {
  walkProperties(bytes, (code, operand) => {
    if (code === 0x2416) properties.isInTable = operand !== 0
    else if (code === 0x2417) properties.isRowEnd = operand !== 0
    else if (code === 0x2640) properties.outline = operand
    else if (code === 0x260a) properties.level = operand
    else if (code === 0x460b) properties.list = operand
    else if (code === 0x2407) properties.breaksPage = operand !== 0
  })
}

/** Lists the formatted runs of a table of pages: `entryLength` bytes for each run, the first of which is the place of its properties. */
function* listRuns(
  main: Buffer,
  table: Buffer,
  entryLength: number,
): Generator<{ start: number; end: number; page: Buffer; offset: number }> {
  const count = Math.floor((table.length - 4) / 8)
  for (let index = 0; index < count; index++) {
    const number = table.readUInt32LE((count + 1) * 4 + index * 4) & 0x3fffff
    const page = main.subarray(number * PAGE_LENGTH, (number + 1) * PAGE_LENGTH)
    if (page.length < PAGE_LENGTH) continue
    const runs = page.readUInt8(PAGE_LENGTH - 1)
    for (let run = 0; run < runs && (runs + 1) * 4 + runs * entryLength < PAGE_LENGTH; run++) {
      const offset = page.readUInt8((runs + 1) * 4 + run * entryLength) * 2
      yield { start: page.readUInt32LE(run * 4), end: page.readUInt32LE(run * 4 + 4), page, offset }
    }
  }
}

export function readParagraphRuns(main: Buffer, table: Buffer): Run<ParagraphProperties>[] {
  const runs: Run<ParagraphProperties>[] = []
  for (const { start, end, page, offset } of listRuns(main, table, 13)) {
    const properties = createProperties()
    const count = offset === 0 ? 0 : page.readUInt8(offset)
    const from = count === 0 ? offset + 2 : offset + 1
    const length = count === 0 ? (offset === 0 ? 0 : page.readUInt8(offset + 1) * 2) : count * 2 - 1
    const bytes = page.subarray(from, from + length)
    if (bytes.length >= 2) {
      properties.style = bytes.readUInt16LE(0)
      readParagraphProperties(bytes.subarray(2), properties)
    }
    runs.push({ start, end, properties })
  }
  return runs.sort((a, b) => a.start - b.start)
}

/** Lists the runs of deleted and hidden text. */
export function readHiddenRuns(main: Buffer, table: Buffer): Run<true>[] {
  const runs: Run<true>[] = []
  for (const { start, end, page, offset } of listRuns(main, table, 1)) {
    let isHidden = false
    const length = offset === 0 ? 0 : page.readUInt8(offset)
    walkProperties(page.subarray(offset + 1, offset + 1 + length), (code, operand) => {
      if (code === 0x0800 || code === 0x083c) isHidden = operand === 1
    })
    if (isHidden) runs.push({ start, end, properties: true })
  }
  return runs.sort((a, b) => a.start - b.start)
}

/** Finds the run at an offset by binary search. */
export function findRun<T>(runs: readonly Run<T>[], offset: number): T | undefined {
  let [low, high] = [0, runs.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const run = runs[middle] as Run<T>
    if (offset < run.start) high = middle - 1
    else if (offset >= run.end) low = middle + 1
    else return run.properties
  }
  return undefined
}

export interface DocStyle {
  heading: number | undefined
  list: number
  level: number
}

const TITLE_STYLE = 62

export function readDocStyles(sheet: Buffer): DocStyle[] {
  const styles: (DocStyle & { base: number })[] = []
  if (sheet.length < 6) return []
  const count = sheet.readUInt16LE(2)
  const baseLength = sheet.readUInt16LE(4)
  for (let offset = 2 + sheet.readUInt16LE(0), index = 0; index < count && offset + 2 <= sheet.length; index++) {
    const length = sheet.readUInt16LE(offset)
    styles.push(readStyle(sheet.subarray(offset + 2, offset + 2 + length), baseLength))
    offset += 2 + length
  }
  return styles.map((style) => resolveStyle(style, styles))
}

function readStyle(style: Buffer, baseLength: number): DocStyle & { base: number } {
  const result: DocStyle & { base: number } = { heading: undefined, list: 0, level: 0, base: 0xfff }
  if (style.length < baseLength + 2 || style.length < 6) return result
  const id = style.readUInt16LE(0) & 0xfff
  result.base = style.readUInt16LE(2) >> 4
  result.heading = id >= 1 && id <= 9 ? Math.min(id, 6) : id === TITLE_STYLE ? 1 : undefined
  const isParagraph = (style.readUInt16LE(2) & 0xf) === 1
  // After the name and its terminator come the properties.
  const offset = baseLength + 2 + (style.readUInt16LE(baseLength) + 1) * 2
  if (!isParagraph || offset + 4 > style.length) return result
  const properties = createProperties()
  readParagraphProperties(style.subarray(offset + 4, offset + 2 + style.readUInt16LE(offset)), properties)
  const { outline, list, level } = properties
  if (outline !== undefined && outline < 6) result.heading ??= outline + 1
  return { ...result, list, level }
}

function resolveStyle(style: DocStyle & { base: number }, styles: readonly (DocStyle & { base: number })[]): DocStyle {
  let { heading, list, level } = style
  let base = styles[style.base]
  // Bounded: styles may be based on each other in a cycle.
  for (let depth = 0; base && depth < MAX_STYLE_DEPTH; depth++) {
    heading ??= base.heading
    if (list === 0) ({ list, level } = base)
    base = styles[base.base]
  }
  return { heading, list, level }
}

const BULLET = 23
const NO_NUMBER = 255

/** Returns a predicate for list levels with numbers instead of bullets. `definitions` are followed by their levels. */
export function readDocLists(definitions: Buffer, overrides: Buffer): (list: number, level: number) => boolean {
  const numbered = new Map<number, boolean[]>()
  const count = definitions.length < 2 ? 0 : definitions.readUInt16LE(0)
  let offset = 2 + count * 28
  for (let index = 0; index < count && 2 + (index + 1) * 28 <= definitions.length; index++) {
    const isSimple = (definitions.readUInt8(2 + index * 28 + 26) & 1) !== 0
    const levels: boolean[] = []
    for (let level = 0; level < (isSimple ? 1 : 9) && offset + 30 <= definitions.length; level++) {
      const format = definitions.readUInt8(offset + 4)
      levels.push(format !== BULLET && format !== NO_NUMBER)
      offset += 28 + definitions.readUInt8(offset + 24) + definitions.readUInt8(offset + 25)
      offset += offset + 2 <= definitions.length ? 2 + definitions.readUInt16LE(offset) * 2 : 2
    }
    numbered.set(definitions.readInt32LE(2 + index * 28), levels)
  }
  return (list, level) => {
    const at = 4 + (list - 1) * 16
    return list > 0 && at + 4 <= overrides.length ? (numbered.get(overrides.readInt32LE(at))?.[level] ?? false) : false
  }
}
