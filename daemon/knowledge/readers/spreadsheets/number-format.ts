/** Formats the numbers of a workbook as a person sees them, by the number format of their cell (ECMA-376, 18.8.31). */
import { compileDate, type DateToken, parseDateToken, toIsoDate } from './date-format.ts'

interface FormattedNumber {
  text: string
  /** The number, or a date as ISO 8601. */
  value: number | string
  isDate: boolean
}

export type NumberFormat = (value: number) => FormattedNumber

/** Formats that files refer to by number only. 14 and 22 depend on the language of the program; they are written unambiguously. */
const BUILT_IN_FORMATS: Record<number, string> = {
  ...{ 1: '0', 2: '0.00', 3: '#,##0', 4: '#,##0.00', 9: '0%', 10: '0.00%', 11: '0.00E+00', 12: '# ?/?', 13: '# ??/??' },
  ...{ 14: 'yyyy-mm-dd', 15: 'd-mmm-yy', 16: 'd-mmm', 17: 'mmm-yy', 18: 'h:mm AM/PM', 19: 'h:mm:ss AM/PM', 20: 'h:mm', 21: 'h:mm:ss' },
  ...{ 22: 'yyyy-mm-dd h:mm', 37: '#,##0;-#,##0', 38: '#,##0;-#,##0', 39: '#,##0.00;-#,##0.00', 40: '#,##0.00;-#,##0.00' },
  ...{ 45: 'mm:ss', 46: '[h]:mm:ss', 47: 'mm:ss.0', 48: '##0.0E+0', 49: '@' },
}
const MAX_FORMAT_LENGTH = 500
const MAX_DECIMALS = 15
/** Dates take long to format, and the same ones occur again and again. */
const MAX_CACHED_DATES = 10_000

interface Section {
  matches: ((value: number) => boolean) | undefined
  isDate: boolean
  /** Receives the absolute value if the section says how negative numbers look. */
  format(value: number, isDate1904: boolean): string
}

export const findBuiltInFormat = (id: number): string => BUILT_IN_FORMATS[id] ?? 'General'

export function compileNumberFormat(code: string, isDate1904 = false): NumberFormat {
  const formatText = compileSections(code, isDate1904)
  const dates = new Map<number, FormattedNumber>()
  return (value) => {
    const known = dates.get(value)
    if (known) return known
    const { text, isDate } = formatText(value)
    const date = isDate ? toIsoDate(value, isDate1904) : undefined
    const formatted = { text, value: date ?? value, isDate: date !== undefined }
    if (isDate && dates.size < MAX_CACHED_DATES) dates.set(value, formatted)
    return formatted
  }
}

function compileSections(code: string, isDate1904: boolean): (value: number) => { text: string; isDate: boolean } {
  const sections = splitSections(code.slice(0, MAX_FORMAT_LENGTH)).slice(0, 4).map(compileSection)
  const [first, second, third] = sections as [Section, Section?, Section?]
  const select = (value: number): Section => {
    if (first.matches || second?.matches)
      return sections.find(({ matches }) => matches?.(value)) ?? sections.find(({ matches }) => !matches) ?? compileSection('')
    return value < 0 && second ? second : value === 0 && third ? third : first
  }
  return (value) => {
    const section = select(value)
    const hasOwnSign = section === second && !first.matches && !second?.matches
    const text = section.format(section.isDate && !hasOwnSign ? value : Math.abs(value), isDate1904)
    return { text: value < 0 && !hasOwnSign && !section.isDate ? addMinus(text) : text, isDate: section.isDate }
  }
}

/** A number that is rounded to zero has no sign. */
const addMinus = (text: string): string => (/[1-9]/.test(text) || !/\d/.test(text) ? `-${text}` : text)

/** Shows at most 15 digits, as spreadsheet programs do: 0.1 + 0.2 is 0.3. */
export function formatGeneral(value: number): string {
  const text = String(value)
  return text.length <= 15 ? text : String(Number(value.toPrecision(15)))
}

function splitSections(code: string): string[] {
  const sections = ['']
  for (const [token] of code.matchAll(/"[^"]*"?|\\.?|\[[^\]]*\]?|[\s\S]/g)) {
    if (token === ';') sections.push('')
    else sections[sections.length - 1] += token
  }
  return sections
}

type Token = { kind: 'literal' | 'digit' | 'mark'; text: string } | { kind: 'date'; date: DateToken }

interface TokenList {
  tokens: Token[]
  condition: Section['matches']
  locale: string
  isGeneral: boolean
}

const TOKEN =
  /"([^"]*)"?|\\(.?)|[_*](.?)|\[([^\]]*)\]?|(general)|(AM\/PM|A\/P)|(y+|m+|d+|h+|s+(?:\.0+)?|e+(?![+-]))|(E[+-])|([0#?])|([\s\S])/giy

function tokenizeSection(section: string): TokenList {
  const list: TokenList = { tokens: [], condition: undefined, locale: 'en', isGeneral: false }
  const add = (token: Token) => list.tokens.push(token)
  TOKEN.lastIndex = 0
  for (const [, quoted, escaped, spacing, bracket, general, half, date, exponent, digit, other] of section.matchAll(TOKEN)) {
    const literal = quoted ?? escaped
    if (literal !== undefined) add({ kind: 'literal', text: literal })
    else if (bracket !== undefined) readBracket(bracket, list)
    else if (general !== undefined) list.isGeneral = true
    else if (half !== undefined || date !== undefined) add({ kind: 'date', date: parseDateToken(half ?? date ?? '') })
    else if (exponent !== undefined) add({ kind: 'mark', text: exponent.toUpperCase() })
    else if (digit !== undefined) add({ kind: 'digit', text: digit })
    else if (other !== undefined && '.,%/'.includes(other)) add({ kind: 'mark', text: other })
    else if (other !== undefined && other !== '@') add({ kind: 'literal', text: other })
    else if (spacing === undefined && other === undefined) break
  }
  return list
}

/** Brackets contain a colour, a condition, a currency with its language, or an elapsed time. */
function readBracket(content: string, list: TokenList): void {
  const currency = /^\$([^-]*)(?:-([0-9a-f]+))?/i.exec(content)
  const condition = /^([<>=]{1,2})(-?[\d.]+)$/.exec(content)
  if (currency) {
    if (currency[1]) list.tokens.push({ kind: 'literal', text: currency[1] })
    list.locale = findLocale(currency[2] ?? '') ?? list.locale
  } else if (condition) list.condition = createCondition(condition[1] ?? '', Number(condition[2]))
  else if (/^(?:h+|m+|s+)$/i.test(content)) list.tokens.push({ kind: 'date', date: { ...parseDateToken(content), isElapsed: true } })
}

/** Month names are written in these languages; the last two digits of a language code are its language. */
const LOCALES: Record<string, string> = { '07': 'de', '0a': 'es', '0c': 'fr', '10': 'it', '13': 'nl', '16': 'pt' }
const findLocale = (code: string): string | undefined => LOCALES[code.slice(-2).toLowerCase()]

const COMPARISONS: Record<string, (value: number, limit: number) => boolean> = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '<>': (value, limit) => value !== limit,
}

function createCondition(operator: string, limit: number): Section['matches'] {
  const compare = COMPARISONS[operator] ?? ((value: number) => value === limit)
  return (value) => compare(value, limit)
}

function compileSection(section: string): Section {
  const { tokens, condition, locale, isGeneral } = tokenizeSection(section)
  const dates = tokens.flatMap((token) => (token.kind === 'date' ? [token.date] : []))
  if (dates.length > 0) {
    // Digits and marks are literals in a date: they separate its parts.
    const parts = tokens.map((token) => (token.kind === 'date' ? token.date : token.text))
    return { matches: condition, isDate: true, format: compileDate(parts, locale) }
  }
  if (tokens.some(({ kind }) => kind === 'digit')) return { matches: condition, isDate: false, format: compileNumber(tokens) }
  const text = tokens.map(getText).join('')
  const showsNumber = isGeneral || section === '' || section.includes('@')
  return { matches: condition, isDate: false, format: (value) => (showsNumber ? `${formatGeneral(value)}${text}` : text) }
}

function compileNumber(tokens: readonly Token[]): (value: number) => string {
  const isMark = (token: Token | undefined, text: string) => token?.kind === 'mark' && token.text.startsWith(text)
  const lastDigit = tokens.findLastIndex(({ kind }) => kind === 'digit')
  const percents = tokens.filter((token) => isMark(token, '%')).length
  const exponent = tokens.findIndex((token) => isMark(token, 'E'))
  if (exponent < 0 && tokens.some((token) => isMark(token, '/'))) return compileFraction(tokens)
  const end = exponent < 0 ? tokens.length : exponent
  const pointIndex = tokens.findIndex((token) => isMark(token, '.'))
  const point = pointIndex < 0 || pointIndex > end ? end : pointIndex
  const decimals = tokens.slice(point, end).filter(({ kind }) => kind === 'digit')
  const required = decimals.findLastIndex((token) => token.kind === 'digit' && token.text === '0') + 1
  let scale = 100 ** percents
  for (let index = lastDigit + 1; isMark(tokens[index], ','); index++) scale /= 1000
  const integer = tokens.slice(0, point)
  const firstDigit = integer.findIndex(({ kind }) => kind === 'digit')
  const isGrouped = integer.some((token, index) => isMark(token, ',') && index > firstDigit && index < lastDigit)
  const suffix = tokens.slice(point).flatMap((token) => (token.kind === 'literal' || isMark(token, '%') ? [getText(token)] : []))
  return (value) => {
    if (exponent >= 0) return formatExponent(value * scale, decimals.length) + suffix.join('')
    const digits = roundNumber(value * scale, Math.min(decimals.length, MAX_DECIMALS))
    const [whole = '', fraction = ''] = digits.split('.')
    let shown = fraction
    while (shown.length > required && shown.endsWith('0')) shown = shown.slice(0, -1)
    return fillInteger(integer, whole, isGrouped) + (shown === '' ? '' : `.${shown}`) + suffix.join('')
  }
}

const getText = (token: Token): string => (token.kind === 'date' ? '' : token.text)

/** Rounds as decimals: 1.005 with two digits is 1.01. */
function roundNumber(value: number, digits: number): string {
  if (value >= 1e15 || value < 1e-7) return value >= 1e21 ? BigInt(Math.round(Math.min(value, 1e300))).toString() : value.toFixed(digits)
  return Number(`${Math.round(Number(`${formatGeneral(value)}e${digits}`))}e-${digits}`).toFixed(digits)
}

function formatExponent(value: number, decimals: number): string {
  const [mantissa, exponent = '+0'] = value.toExponential(Math.min(decimals, MAX_DECIMALS)).split('e')
  return `${mantissa}E${exponent[0]}${exponent.slice(1).padStart(2, '0')}`
}

/** Fills the digits into the placeholders from the right; the first placeholder takes those that are left. */
function fillInteger(pattern: readonly Token[], whole: string, isGrouped: boolean): string {
  const firstDigit = pattern.findIndex(({ kind }) => kind === 'digit')
  let rest = whole === '0' ? '' : whole
  let count = 0
  let result = ''
  const addDigit = (digit: string) => {
    if (isGrouped && count > 0 && count % 3 === 0) result = `,${result}`
    result = digit + result
    count++
  }
  for (let index = pattern.length - 1; index >= 0; index--) {
    const token = pattern[index] as Token
    if (token.kind === 'digit') {
      if (rest !== '') addDigit(rest.slice(-1))
      else if (token.text === '0') addDigit('0')
      rest = rest.slice(0, -1)
      if (index === firstDigit) for (; rest !== ''; rest = rest.slice(0, -1)) addDigit(rest.slice(-1))
    } else if (token.kind === 'literal' || getText(token) === '%') result = getText(token) + result
  }
  // A pattern without digits before the point: .00
  return firstDigit < 0 ? `${result}${rest}` : result
}

function compileFraction(tokens: readonly Token[]): (value: number) => string {
  const slash = tokens.findIndex((token) => token.kind === 'mark' && token.text === '/')
  const digits = tokens.slice(slash + 1).filter(({ kind }) => kind === 'digit').length
  const maxDenominator = 10 ** Math.min(Math.max(digits, 1), 4) - 1
  const hasWhole = tokens.slice(0, slash).some((token, index) => token.kind === 'digit' && tokens[index + 1]?.kind === 'literal')
  return (value) => {
    const whole = hasWhole ? Math.floor(value) : 0
    const [top, bottom] = approximate(value - whole, maxDenominator)
    if (top === 0) return String(whole)
    if (top === bottom) return String(whole + 1)
    return `${whole > 0 ? `${whole} ` : ''}${top}/${bottom}`
  }
}

/** Finds the nearest fraction by its continued fraction. */
function approximate(value: number, maxDenominator: number): [number, number] {
  let [top, bottom, previousTop, previousBottom] = [Math.floor(value), 1, 1, 0]
  let rest = value - Math.floor(value)
  for (let step = 0; step < 20 && rest > 1e-9; step++) {
    const quotient = Math.floor(1 / rest)
    rest = 1 / rest - quotient
    const next = quotient * bottom + previousBottom
    if (next > maxDenominator) break
    ;[top, previousTop] = [quotient * top + previousTop, top]
    ;[bottom, previousBottom] = [next, bottom]
  }
  return [top, bottom]
}
