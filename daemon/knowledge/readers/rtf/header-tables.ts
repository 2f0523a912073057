/** The tables at the start of an RTF document: fonts with their encodings, styles, and lists. */

/** Encodings of the character sets of Windows fonts. */
const ENCODINGS_BY_CHARSET: Record<number, string> = {
  ...{ 0: 'windows-1252', 77: 'macintosh', 128: 'shift_jis', 129: 'euc-kr', 134: 'gbk', 136: 'big5', 161: 'windows-1253' },
  ...{ 162: 'windows-1254', 163: 'windows-1258', 177: 'windows-1255', 178: 'windows-1256', 186: 'windows-1257' },
  ...{ 204: 'windows-1251', 222: 'windows-874', 238: 'windows-1250' },
}
export const ENCODINGS_BY_CODE_PAGE: Record<number, string> = {
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  65001: 'utf-8',
  10000: 'macintosh',
}
const BULLET = 23
const NO_NUMBER = 255

export function findCodePage(number: number): string {
  const label = ENCODINGS_BY_CODE_PAGE[number] ?? `windows-${number}`
  return /^windows-(?:125[0-8]|874)$/.test(label) || !label.startsWith('windows') ? label : 'windows-1252'
}

export class HeaderTables {
  readonly encodings = new Map<number, string>()
  /** Heading level by style. */
  readonly headings = new Map<number, number>()
  readonly #numberedLists = new Map<number, boolean[]>()
  readonly #listIds = new Map<number, number>()
  #font = 0
  #style = 0
  #styleName = ''
  #levels: boolean[] = []
  #listId = 0

  readFont(word: string, parameter: number): void {
    if (word === 'f') this.#font = parameter
    else if (word === 'fcharset') this.encodings.set(this.#font, ENCODINGS_BY_CHARSET[parameter] ?? '')
  }

  startStyle(): void {
    this.#style = 0
    this.#styleName = ''
  }

  readStyle(word: string, parameter: number): void {
    if (word === 's') this.#style = parameter
    else if (word === 'outlinelevel' && parameter < 6) this.headings.set(this.#style, parameter + 1)
  }

  addStyleName(text: string): void {
    this.#styleName += text
    const level = /^\s*heading ([1-6])\b/i.exec(this.#styleName)?.[1]
    if (level !== undefined) this.headings.set(this.#style, Number(level))
    else if (/^\s*title;/i.test(this.#styleName)) this.headings.set(this.#style, 1)
  }

  readList(word: string, parameter: number): void {
    if (word === 'list') this.#levels = []
    else if (word === 'levelnfc') this.#levels.push(parameter !== BULLET && parameter !== NO_NUMBER)
    else if (word === 'listid') this.#numberedLists.set(parameter, this.#levels)
  }

  readListOverride(word: string, parameter: number): void {
    if (word === 'listid') this.#listId = parameter
    else if (word === 'ls') this.#listIds.set(parameter, this.#listId)
  }

  isNumbered(list: number, level: number): boolean {
    return this.#numberedLists.get(this.#listIds.get(list) ?? list)?.[level] ?? false
  }
}
