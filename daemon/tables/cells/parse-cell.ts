/** Reads numbers, amounts, durations, dates and yes or no from the text of a cell. */

export interface CellNumber {
  value: number
  /** The number of digits after the decimal point. */
  scale: number
  /** "€", "%", "km". Empty if there is none. */
  unit: string
  /** Whether the text consists of the number and a short unit. */
  isWhole: boolean
}

export interface CellDate {
  /** "2024", "2024-03", "2024-03-05" or "2024-03-05T14:30". */
  iso: string
  /** Whether the text consists of the date. */
  isWhole: boolean
}

const EMPTY = /^(?:[-–—−?.*\s]*|n\/?a|none|null|nil|nan|unknown|tba|tbd|#n\/a)$/i
const CURRENCY = /^(?:[$€£¥₹₽₩]|US\$|A\$|C\$|R\$|USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|Rs\.?)\s*/i
const CURRENCY_UNIT = /^(?:\p{Sc}|[A-Z]{1,2}\$|Rs\.?)$/u
/** The codes of ISO 4217, and others that people write. */
const CURRENCY_CODES = new Set([...Intl.supportedValuesOf('currency'), 'RMB', 'NIS', 'NTD', 'BTC'])
/** Thousands separators, then decimals. A comma before one or two digits is a decimal comma in any document. */
const NUMBER =
  /^[+\-−–]?(?:\d{1,3}(?:[,'’\u00a0\u202f ]\d{3})+(?!\d)(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d+,\d{1,2}(?!\d)|\d+(?:\.\d+)?|\.\d+)/
const NUMBER_WITH_COMMA = /^[+\-−–]?(?:\d{1,3}(?:[.'’\u00a0\u202f ]\d{3})+(?![\d.])(?:,\d+)?|\d+(?:,\d+)?|,\d+)/
/** Numbers whose decimal mark is certain: it is neither followed by three digits nor repeated. */
const DECIMAL_COMMA = /^\D{0,4}(?:[\d.]*\d,(?:\d{1,2}|\d{4,})|0,\d+|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,})(?![\d.,])/
const DECIMAL_POINT = /^\D{0,4}(?:[\d,]*\d\.(?:\d{1,2}|\d{4,})|0\.\d+|\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,})(?![\d.,])/
const UNIT = /^[\p{L}\p{Sc}%°²³/]{1,12}\.?(?: [\p{L}]{1,12})?$/u
const DURATION = /^(?:(\d{1,3}):)?(\d{1,3}):(\d{2})(\.\d+)?(?=$|[^\d:])/
const MULTIPLIERS: ReadonlyMap<string, number> = new Map(
  Object.entries({ thousand: 1e3, million: 1e6, mio: 1e6, billion: 1e9, bn: 1e9, k: 1e3 }),
)

export const MONTH_NAMES = 'january february march april may june july august september october november december'.split(' ')
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|' +
  'aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?'
const WEEKDAY = '(?:(?:mon|tues?|wed(?:nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?\\.?,? )?'
const TIME = '(?:[T ,]+(\\d{1,2}):(\\d{2})(?::\\d{2}(?:\\.\\d+)?)?(?: ?Z| ?[AaPp][Mm])?)?'
const date = (pattern: string) => new RegExp(`^${WEEKDAY}${pattern}`, 'i')
/** Formats of dates, each with the order of its groups: year, month, day, hour, minute. */
const DATE_FORMATS: readonly { pattern: RegExp; order: string }[] = [
  { pattern: date(`(\\d{4})[-/.](\\d{1,2})[-/.](\\d{1,2})(?!\\d)${TIME}`), order: 'ymdhn' },
  { pattern: date(`(\\d{1,2})\\.(\\d{1,2})\\.(\\d{4})(?!\\d)${TIME}`), order: 'dmyhn' },
  { pattern: date(`(\\d{1,2})[/-](\\d{1,2})[/-](\\d{4})(?!\\d)${TIME}`), order: '??yhn' },
  { pattern: date(`(\\d{1,2})(?:st|nd|rd|th)?[ -]${MONTH},?[ -](\\d{4})(?!\\d)${TIME}`), order: 'dmyhn' },
  { pattern: date(`${MONTH} (\\d{1,2})(?:st|nd|rd|th)?(?:[-–]\\d{1,2})?,? (\\d{4})(?!\\d)${TIME}`), order: 'mdyhn' },
  { pattern: date(`${MONTH},? (\\d{4})(?!\\d)`), order: 'my' },
  { pattern: /^(\d{4})-(\d{2})(?![\d-])/, order: 'ym' },
  { pattern: date(`${MONTH} (\\d{1,2})(?:st|nd|rd|th)?(?![\\d,])`), order: 'md' },
  { pattern: date(`(\\d{1,2})(?:st|nd|rd|th)? ${MONTH}(?![a-z])`), order: 'dm' },
]

export const isEmptyCell = (text: string): boolean => EMPTY.test(text)

/** Returns the decimal mark of a number; undefined if "1.500" may be one and a half or one and a half thousand. */
export function findDecimalMark(text: string): 'comma' | 'point' | undefined {
  return DECIMAL_COMMA.test(text) ? 'comma' : DECIMAL_POINT.test(text) ? 'point' : undefined
}

export const isCurrency = (unit: string): boolean => CURRENCY_UNIT.test(unit) || CURRENCY_CODES.has(unit)

/** With a decimal comma, points separate thousands. */
export function parseNumber(text: string, hasDecimalComma = false): CellNumber | undefined {
  const accounting = /^\((.+)\)$/.exec(text)
  const body = accounting?.[1] ?? text
  const negative = accounting || /^[-−–]\s*[$€£¥]/.test(body) ? -1 : 1
  const unsigned = body.replace(/^[-−–]\s*(?=[$€£¥])/, '').replace(/^[~≈#]\s*/, '')
  const currency = CURRENCY.exec(unsigned)?.[0] ?? ''
  const rest = unsigned.slice(currency.length)
  const match = (hasDecimalComma ? NUMBER_WITH_COMMA : NUMBER).exec(rest)?.[0]
  if (match === undefined) return undefined
  const plain = normalizeDigits(match, hasDecimalComma)
  const after = rest.slice(match.length).trim()
  const [word = ''] = after.toLowerCase().split(' ')
  const multiplier = MULTIPLIERS.get(word) ?? 1
  const unit = multiplier === 1 ? after : after.slice(word.length).trim()
  const value = negative * multiplier * Number(plain)
  if (!Number.isFinite(value)) return undefined
  return {
    value,
    scale: multiplier === 1 ? (plain.split('.')[1]?.length ?? 0) : 0,
    unit: currency.trim() || unit,
    isWhole: unit === '' || UNIT.test(unit),
  }
}

/** Returns digits with a decimal point and no other marks. */
function normalizeDigits(text: string, hasDecimalComma: boolean): string {
  const sign = /^[-−–]/.test(text) ? '-' : ''
  const digits = text.replace(/^[+\-−–]/, '').replaceAll(/['’\u00a0\u202f ]/g, '')
  if (hasDecimalComma || /^\d{1,3}(?:\.\d{3})+,\d+$/.test(digits)) return sign + digits.replaceAll('.', '').replace(',', '.')
  if (/^\d+,\d{1,2}$/.test(digits)) return sign + digits.replace(',', '.')
  return sign + digits.replaceAll(',', '')
}

/** Returns the seconds of "1:02:03" and "4:05.5". */
export function parseDuration(text: string): CellNumber | undefined {
  const match = DURATION.exec(text)
  if (!match) return undefined
  const [whole, hours = '0', minutes = '0', seconds = '0', fraction = '0'] = match
  const value = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(fraction)
  return { value, scale: 0, unit: '', isWhole: whole.length === text.length }
}

/** Numbers such as 03/04/2024 are read with the day first if `isDayFirst`. */
export function parseDate(text: string, isDayFirst = false): CellDate | undefined {
  for (const { pattern, order } of DATE_FORMATS) {
    const match = pattern.exec(text)
    if (!match) continue
    const parts = readParts(match.slice(1), order.replace('??', isDayFirst ? 'dm' : 'md'))
    if (!parts) continue
    return { iso: parts, isWhole: match[0].length === text.length }
  }
  return undefined
}

/** Whether a date such as 25.12.2024 is written as in countries that have a decimal comma. */
export const hasDottedDate = (text: string): boolean => /^\d{1,2}\.\d{1,2}\.\d{4}(?!\d)/.test(text)

/** Whether a date such as 25/12/2024 can only be read with the day first. */
export const hasDayFirst = (text: string): boolean => {
  const [, first] = /^(\d{1,2})[/-]\d{1,2}[/-]\d{4}/.exec(text) ?? []
  return Number(first) > 12
}

function readParts(groups: readonly (string | undefined)[], order: string): string | undefined {
  const part = (letter: string) => groups[order.indexOf(letter)]
  const month = order.includes('m') ? readMonth(part('m') ?? '') : undefined
  const day = order.includes('d') ? Number(part('d')) : undefined
  if ((month !== undefined && !(month >= 1 && month <= 12)) || (day !== undefined && !(day >= 1 && day <= 31))) return undefined
  // A day without a year is of the year 0000, so that days compare with each other.
  const year = order.includes('y') ? (part('y') as string) : '0000'
  const pad = (value: number | string) => String(value).padStart(2, '0')
  const time = order.includes('h') && part('h') !== undefined ? `T${pad(part('h') as string)}:${part('n')}` : ''
  return [year, ...(month === undefined ? [] : [pad(month)]), ...(day === undefined ? [] : [pad(day)])].join('-') + time
}

/** Returns the number of a month given as "3", "March" or "mar". */
export function readMonth(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  const word = text.toLowerCase()
  return word.length < 3 ? 0 : MONTH_NAMES.findIndex((name) => name.startsWith(word.slice(0, 4))) + 1
}

export const WEEKDAY_NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

const capitalize = (name: string) => name.slice(0, 1).toUpperCase() + name.slice(1)
export const formatMonth = (month: number): string => capitalize(MONTH_NAMES[month - 1] ?? '')
/** "March 2026" for 2026-03; others, such as a year, as they are. */
export const formatYearMonth = (date: string): string =>
  /^\d{4}-\d{2}$/.test(date) ? `${formatMonth(Number(date.slice(5)))} ${date.slice(0, 4)}` : date
export const formatWeekday = (day: number): string => capitalize(WEEKDAY_NAMES[day] ?? '')

const YES = /^(?:yes|y|true|ja|✓|✔|☑|x)$/i
const NO = /^(?:no|n|false|nein|✗|✘|☐)$/i
export const parseBoolean = (text: string): boolean | undefined => (YES.test(text) ? true : NO.test(text) ? false : undefined)
