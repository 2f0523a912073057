/** Reads RTF documents: headings, lists, tables, footnotes and pages. */
import { decodeBytes } from '../../../core/decode-bytes.ts'
import { DocumentWriter } from '../document-writer.ts'
import { toBuffer } from '../encoding/decode-text.ts'
import { cleanText, DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { findCodePage, HeaderTables } from './header-tables.ts'
import { walkRtf } from './walk-rtf.ts'

type Destination = 'body' | 'fonts' | 'styles' | 'lists' | 'overrides' | 'title' | 'note' | 'skip'

/** State of a group; nested groups inherit it. */
interface Group {
  destination: Destination
  font: number
  /** Characters after \u that are there for older programs. */
  unicodeSkip: number
  isHidden: boolean
  /** Whether it only stands for HTML that is in the document, too: Outlook wraps pages in RTF. */
  isSubstitute: boolean
}

interface Paragraph {
  style: number
  outline: number | undefined
  list: number
  level: number
  isInTable: boolean
}

const DESTINATIONS: Record<string, Destination> = {
  ...{ fonttbl: 'fonts', stylesheet: 'styles', listtable: 'lists', listoverridetable: 'overrides', title: 'title', footnote: 'note' },
  ...Object.fromEntries(
    `colortbl pict object header headerl headerr headerf footer footerl footerr footerf fldinst themedata datastore colorschememapping
    pntext listtext pn annotation atnid atnauthor xe tc generator author operator company keywords doccomm subject category manager
    comment hlinkbase creatim revtim printim buptim rsidtbl latentstyles listpicture nonshppict sp background template ftnsep
    ftnsepc aftnsep aftnsepc bkmkstart bkmkend`
      .split(/\s+/)
      .map((word) => [word, 'skip' as const]),
  ),
}
const CHARACTERS: Record<string, string> = {
  ...{ line: '\n', tab: ' ', emdash: '—', endash: '–', lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”', bullet: '•' },
  ...{ emspace: ' ', enspace: ' ', qmspace: ' ', '~': ' ', _: '-', '\\': '\\', '{': '{', '}': '}' },
}
const MAX_DEPTH = 10_000

export function readRtf(bytes: Uint8Array): ParsedDocument {
  const converter = new RtfConverter()
  walkRtf(toBuffer(bytes).toString('latin1'), converter)
  return converter.finish()
}

class RtfConverter {
  readonly #writer = new DocumentWriter()
  #title = ''
  #notice: string | undefined
  readonly #tables = new HeaderTables()
  #groups: Group[] = []
  #group: Group = { destination: 'body', font: -1, unicodeSkip: 1, isHidden: false, isSubstitute: false }
  /** The group starts with \*: a program that does not know its first word skips it. */
  #isOptional = false
  #encoding = 'windows-1252'
  /** Bytes that are decoded together, because a character can have two. */
  #bytes = ''
  /** Characters that still follow a \u. */
  #toSkip = 0
  #parts: string[] = []
  #note: string[] = []
  #paragraph = createParagraph()
  #rows: string[][] = []
  #cells: string[] = []
  #cell: string[] = []

  openGroup(): void {
    this.#flushBytes()
    if (this.#groups.length >= MAX_DEPTH) throw new DocumentReadError('The document is nested too deeply to be read.')
    this.#groups.push(this.#group)
    this.#group = { ...this.#group }
    this.#toSkip = 0
    if (this.#group.destination === 'styles') this.#tables.startStyle()
  }

  closeGroup(): void {
    this.#flushBytes()
    const { destination } = this.#group
    this.#group = this.#groups.pop() ?? this.#group
    this.#isOptional = false
    if (destination !== 'note' || this.#group.destination === 'note') return
    const text = this.#note.join('').replaceAll(/\s+/g, ' ').trim()
    this.#note = []
    if (text !== '' && this.#group.destination === 'body') this.#parts.push(this.#writer.addNote(text))
  }

  control(word: string, parameter: number | undefined): void {
    this.#flushBytes()
    if (word === '*') {
      this.#isOptional = true
      return
    }
    const isOptional = this.#isOptional
    this.#isOptional = false
    const destination = DESTINATIONS[word]
    if (destination !== undefined) {
      if (word === 'pict' || word === 'object') this.#notice = 'Images and embedded objects were not read.'
      if (this.#group.destination !== 'skip') this.#group.destination = destination
    } else if (isOptional && !['shpinst', 'shptxt', 'listtext'].includes(word)) this.#group.destination = 'skip'
    else if (word === 'htmlrtf') this.#group.isSubstitute = parameter !== 0
    else if (word === 'u') this.#addUnicode(parameter ?? 0)
    else if (word === 'uc') this.#group.unicodeSkip = Math.min(Math.max(parameter ?? 1, 0), 100)
    else if (word === 'ansicpg') this.#encoding = findCodePage(parameter ?? 1252)
    else if (word === 'mac') this.#encoding = 'macintosh'
    else this.#readControl(word, parameter)
  }

  text(bytes: string): void {
    this.#isOptional = false
    const skipped = Math.min(this.#toSkip, bytes.length)
    this.#toSkip -= skipped
    this.#bytes += skipped > 0 ? bytes.slice(skipped) : bytes
  }

  finish(): ParsedDocument {
    this.#flushBytes()
    this.#endParagraph()
    this.#endTable()
    const isTruncated = this.#groups.length > 0 // a group was not closed
    const notice = isTruncated ? 'The document is truncated: its end is missing.' : this.#notice
    const document = this.#writer.finishDocument(this.#title.trim().slice(0, 300) || null, notice)
    if (isTruncated && !/\S/.test(document.text)) throw new DocumentReadError('The RTF document is truncated: its end is missing.')
    return document
  }

  #readControl(word: string, parameter: number | undefined): void {
    const number = parameter ?? 0
    const { destination } = this.#group
    if (destination === 'fonts') this.#tables.readFont(word, number)
    else if (destination === 'styles') this.#tables.readStyle(word, number)
    else if (destination === 'lists') this.#tables.readList(word, number)
    else if (destination === 'overrides') this.#tables.readListOverride(word, number)
    else if (destination !== 'skip' && !this.#group.isSubstitute) this.#readBodyControl(word, number, parameter === 0)
  }

  #readBodyControl(word: string, number: number, isOff: boolean): void {
    const character = CHARACTERS[word]
    if (character !== undefined) this.#addText(character)
    else if (word === 'f') this.#group.font = number
    else if (word === 'v') this.#group.isHidden = !isOff
    else if (word === 'plain') this.#group.isHidden = false
    else if (this.#group.destination === 'note') {
      if (word === 'par') this.#addText(' ')
    } else if (word === 'par' || word === 'sect') this.#endParagraph()
    else if (word === 'pard') this.#paragraph = createParagraph()
    else if (word === 's') this.#paragraph.style = number
    else if (word === 'outlinelevel') this.#paragraph.outline = number
    else if (word === 'ls') this.#paragraph.list = number
    else if (word === 'ilvl') this.#paragraph.level = number
    else if (word === 'intbl') this.#paragraph.isInTable = true
    else if (word === 'cell' || word === 'nestcell') this.#endCell()
    else if (word === 'row') this.#endRow()
    else if (word === 'page' || word === 'pagebb') this.#startPage(word)
  }

  #addUnicode(code: number): void {
    this.#toSkip = this.#group.unicodeSkip
    this.#addText(String.fromCharCode(code < 0 ? code + 65_536 : code))
  }

  #flushBytes(): void {
    if (this.#bytes === '') return
    const encoding = this.#tables.encodings.get(this.#group.font) || this.#encoding
    const isAscii = !/[\x80-\xff]/.test(this.#bytes)
    this.#addText(isAscii ? this.#bytes : decodeBytes(Buffer.from(this.#bytes, 'latin1'), encoding))
    this.#bytes = ''
  }

  #addText(text: string): void {
    const { destination, isHidden, isSubstitute } = this.#group
    if (destination === 'styles') this.#tables.addStyleName(text)
    else if (destination === 'title') this.#title += text
    else if (destination === 'note') this.#note.push(text)
    else if (destination === 'body' && !isHidden && !isSubstitute) this.#parts.push(text)
  }

  /** Text after a table ends it. */
  #endParagraph(): void {
    // Cleaned here, because offsets of pages are counted from now on. Surrogates are joined first.
    const text = cleanText(this.#parts.join(''))
    this.#parts = []
    const { style, outline, list, level, isInTable } = this.#paragraph
    if (isInTable) {
      this.#cell.push(text)
      return
    }
    if (!/\S/.test(text)) return
    this.#endTable()
    const heading = outline !== undefined && outline < 6 ? outline + 1 : this.#tables.headings.get(style)
    const format = list > 0 ? { level, isNumbered: this.#tables.isNumbered(list, level) } : undefined
    this.#writer.writeParagraph(text, { heading, list: format })
  }

  #endCell(): void {
    this.#cell.push(cleanText(this.#parts.join('')))
    this.#parts = []
    this.#cells.push(this.#cell.join('\n').trim())
    this.#cell = []
  }

  #endRow(): void {
    if (this.#cells.some((cell) => cell !== '')) this.#rows.push(this.#cells)
    this.#cells = []
  }

  #endTable(): void {
    if (this.#cells.length > 0) this.#endRow()
    if (this.#rows.length > 0) this.#writer.writeTable(this.#rows)
    this.#rows = []
  }

  #startPage(word: string): void {
    if (this.#paragraph.isInTable) return
    if (word === 'page') this.#endParagraph()
    this.#endTable()
    this.#writer.startPage('manual')
  }
}

const createParagraph = (): Paragraph => ({ style: 0, outline: undefined, list: 0, level: 0, isInTable: false })
