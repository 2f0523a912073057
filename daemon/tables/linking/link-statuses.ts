/** Finds statuses that a table calls otherwise: "completed" where the status is "Done". */
import type { Question } from '../parse-question.ts'
import type { CellValue, Column } from '../typed-table.ts'
import { toStems } from '../vocabulary.ts'
import { type LinkedCondition, listHeaderStems } from './links.ts'

export const STATUS_STEMS = toStems('status state stage progress outcome result')
const STATUSES = `
done completed complete finished closed resolved fulfilled
cancelled canceled annulled
paid settled cleared
scheduled planned booked upcoming
declined rejected refused
accepted approved confirmed
collected fetched
`
  .trim()
  .split('\n')
  .map(toStems)

/** `named` are conditions on values that the words name. */
export function createStatusConditions(
  { words }: Question,
  columns: readonly Column[],
  named: readonly LinkedCondition[],
  values: readonly CellValue[],
): LinkedCondition[] {
  const statuses = values.filter(({ column, stems }) => {
    const isStatus = listHeaderStems(columns[column]?.header ?? '').some((stem) => STATUS_STEMS.has(stem))
    return isStatus && stems.length === 1
  })
  return words.flatMap(({ stem }, start): LinkedCondition[] => {
    const group = STATUSES.find((each) => each.has(stem))
    if (!group || named.some((value) => value.match === 'exact' && value.start === start)) return []
    const meant = statuses.filter(({ stems: [only = ''] }) => group.has(only))
    return [...new Set(meant.map(({ column }) => column))].map((column) => {
      const texts = meant.filter((value) => value.column === column).map(({ text }) => text)
      return { start, end: start + 1, match: 'exact', condition: { kind: 'equals', column, reading: 'text', values: texts } }
    })
  })
}
