/** Completes dates that people write without a year or by other names: "since July", "9 May", "before New Year", "the end of November". */
import { MONTH_NAMES, readMonth } from '../cells/parse-cell.ts'

const MONTH = `(?:${MONTH_NAMES.join('|')})`
const NO_YEAR = String.raw`\b(?!,? (?:of |in )?\d)`
/** "Between 15 March and 15 April 2025": the second date has the year. */
const NO_LATER_YEAR = String.raw`(?! (?:and|to|until|till|through) (?:\d{1,2} )?${MONTH} (?:\d{1,2},? )?\d{4}\b)`
/** Parts of ranges. */
const [START, JOIN, DAY] = ['(between|from)', '(and|to|until|through)', String.raw`(\d{1,2})(?:st|nd|rd|th)?`]
const ORDINALS = 'first|second|third|fourth|1st|2nd|3rd|4th'
const WEEKDAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day'

/** The last months of seasons that end in the year in which they begin. */
const SEASON_ENDS: Readonly<Record<string, number>> = { spring: 5, summer: 8, autumn: 11 }

const getLastDay = (year: number, month: number): string => new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
const addDay = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)

/** `today` is an ISO date. */
export function nameDates(question: string, today: string): string {
  const [year, month] = today.split('-').map(Number) as [number, number]
  return (
    question
      // "The 21st of November" is "21 November", and what day of the week it is adds nothing.
      .replaceAll(new RegExp(String.raw`\b(?:the )?(\d{1,2})(?:st|nd|rd|th)(?: of)? (?=${MONTH}\b)`, 'gi'), '$1 ')
      .replaceAll(new RegExp(String.raw`\b(${MONTH}) (?:the )?(\d{1,2})(?:st|nd|rd|th)\b`, 'gi'), '$1 $2')
      .replaceAll(new RegExp(String.raw`\b${WEEKDAY},? (?=\d{1,2} ${MONTH}\b|${MONTH} \d{1,2}\b)`, 'gi'), '')
      // "Between 10 and 20 September", "from May 3 to 9": both days are of the month.
      .replaceAll(new RegExp(String.raw`\b${START} (?:the )?${DAY} ${JOIN} (\d{1,2}) (${MONTH})\b`, 'gi'), '$1 $2 $5 $3 $4 $5')
      .replaceAll(
        new RegExp(String.raw`\b${START} (${MONTH}) (\d{1,2}) ${JOIN} (?:the )?${DAY}\b(?![./-]\d| (?:of )?${MONTH})`, 'gi'),
        '$1 $2 $3 $4 $2 $5',
      )
      // "January in 2026", from "January this year".
      .replaceAll(new RegExp(String.raw`\b(${MONTH}) in (?=\d{4}\b)`, 'gi'), '$1 ')
      .replaceAll(
        new RegExp(String.raw`\b(${ORDINALS}) (or|and|vs|than)((?: (?:in|the))*) (${ORDINALS}) (quarter|half)\b`, 'gi'),
        '$1 $5 $2$3 $4 $5',
      )
      .replaceAll(/\b(first|second) half(?:[- ]year| of the year)\b/gi, '$1 half')
      .replaceAll(/\bnew year(?:['’]s(?: day)?)?\b(?! ?['’]?s? eve)/gi, `${year + 1}-01-01`)
      .replaceAll(/\b(?:in |during )?(this|last) (spring|summer|autumn|fall|winter)\b/gi, (_, word: string, season: string) => {
        const name = season.toLowerCase().replace('fall', 'autumn')
        const isOver = month > (SEASON_ENDS[name] ?? 12)
        return `in ${name} ${word.toLowerCase() === 'last' && !isOver ? year - 1 : year}`
      })
      .replaceAll(/\b(before|until|by|since|after) christmas\b/gi, `$1 ${year}-12-25`)
      .replaceAll(/\b(between|from) (?:now|today) (?=and|to|until)/gi, `$1 ${today} `)
      .replaceAll(/\b(before|until|after|since) today\b/gi, `$1 ${today}`)
      .replaceAll(/\b(?:the )?end of (?:the|this) year\b/gi, `${year}-12-31`)
      .replaceAll(/\b(?:the )?end of (?:the|this) month\b/gi, getLastDay(year, month))
      .replaceAll(new RegExp(String.raw`\b(?:since|after) (?:the )?end of (${MONTH})${NO_YEAR}`, 'gi'), (_, name: string) => {
        const isLast = readMonth(name) >= month
        return `since ${addDay(getLastDay(isLast ? year - 1 : year, readMonth(name)))}`
      })
      .replaceAll(new RegExp(String.raw`\b(?:the )?end of (${MONTH})${NO_YEAR}`, 'gi'), (_, name: string) =>
        getLastDay(year, readMonth(name)),
      )
      .replaceAll(new RegExp(String.raw`\bby (?=\d{1,2} ${MONTH}\b|\d{4}-\d\d-\d\d)`, 'gi'), 'until ')
      // A year is that of the question; "since December" is the last one.
      .replaceAll(new RegExp(String.raw`\b(since|before|after|until) (${MONTH})${NO_YEAR}`, 'gi'), (_, word: string, name: string) => {
        const isLast = word.toLowerCase() === 'since' && readMonth(name) > month
        return `${word} ${name} ${isLast ? year - 1 : year}`
      })
      .replaceAll(new RegExp(String.raw`\b((?:between|from) ${MONTH} (?:and|to|until) ${MONTH})${NO_YEAR}`, 'gi'), `$1 ${year}`)
      .replaceAll(new RegExp(String.raw`\bfrom (${MONTH}) (?:on|onwards?|on wards)\b`, 'gi'), `since $1 ${year}`)
      .replaceAll(new RegExp(String.raw`\b(?:(?:from|in|since) )?(${MONTH}) (?:or|and) later\b`, 'gi'), `since $1 ${year}`)
      .replaceAll(new RegExp(String.raw`\b(\d{1,2} ${MONTH})${NO_YEAR}${NO_LATER_YEAR}`, 'gi'), `$1 ${year}`)
      .replaceAll(new RegExp(String.raw`\b(${MONTH} \d{1,2})\b(?!,? \d{4}|\d)${NO_LATER_YEAR}`, 'gi'), `$1 ${year}`)
  )
}
