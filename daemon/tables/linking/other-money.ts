/** Finds questions for amounts of money that a table does not have: pay, revenue in a table of expenses, or money where there is none. */
import { isMoney } from '../cells/column-roles.ts'
import { covers, type Question, splitWords, type Word } from '../parse-question.ts'
import type { TypedTable } from '../typed-table.ts'
import { MONEY_STEMS, toStems, toWords } from '../vocabulary.ts'
import { isInValue, isLinked, type Links, listTableStems } from './links.ts'
import { CUSTOMER_STEMS, STAFF_STEMS } from './role-words.ts'

/** `hasNamedNumbers`: the question names a column of numbers in full. */
export function asksForOtherMoney({ words }: Question, table: TypedTable, links: Links, hasNamedNumbers: boolean): boolean {
  if (asksForPay(words, table, links) || asksForSales(words, table)) return true
  // Hours are spent, too, but pickers are only paid with money.
  if (!table.columns.some(isMoney)) return asksForUnknownMoney(words, links, hasNamedNumbers ? PAYING_STEMS : MONEY_STEMS)
  if (hasNamedNumbers) return false
  // What employees earn is their salary, what we earn is not.
  const isPay = (index: number) =>
    !words.some(({ text }) => OWNERS.has(text)) &&
    links.columns.some((link) => covers(link, index) && isWage(table.columns[link.column]?.header ?? ''))
  const text = words.flatMap((word, index) => (isInValue(links, index) || isPay(index) ? [] : [word.text])).join(' ')
  return asksForOtherDirection(text, table)
}

const INCOME =
  /\b(?:revenue|turnover|income|earn(?:ed|ings)?|sales|best (?:day|week|month|quarter|year)|collect(?:ed)?|did we (?:sell|make|take in))\b/i
/** Whether a question asks for what is received: "our best month". */
export const asksForIncome = (text: string): boolean => INCOME.test(text)

const OWNERS = toWords('we us i')
const PAYING_STEMS = toStems('pay paid cost charge')
const OWN_SPENDING = /\bwe (?:spend|spent|pay|paid|buy|bought)\b/i
const SUPPLIERS = toStems('supplier vendor expense purchase payroll salary wage')

/** Whether the question asks for what is received, and the table has what is spent, or the other way round. */
function asksForOtherDirection(text: string, table: TypedTable): boolean {
  const stems = listTableStems(table)
  const [isOfSuppliers, isOfCustomers] = [SUPPLIERS, CUSTOMER_STEMS].map((words) => stems.some((stem) => words.has(stem)))
  return (
    (INCOME.test(text) && isOfSuppliers === true && !isOfCustomers) || (OWN_SPENDING.test(text) && isOfCustomers === true && !isOfSuppliers)
  )
}

const WAGE = /salary|wage|\bpay\b|payroll|compensation|gross|stipend|earnings|\bfee\b/i
const isWage = (header: string): boolean => WAGE.test(header.replaceAll('_', ' '))

/** Whether the question asks what a member of staff is paid, which amounts of other things do not say. */
function asksForPay(words: readonly Word[], { columns }: TypedTable, { conditions }: Links): boolean {
  if (columns.some(({ header }) => isWage(header))) return false
  const isStaff = (column: number) => STAFF_STEMS.has(splitWords((columns[column]?.header ?? '').replaceAll('_', ' ')).at(-1)?.stem ?? '')
  return conditions.some(
    ({ start, end, condition }) =>
      isStaff(condition.column) &&
      (['pay', 'paid'].includes(words[start - 1]?.text ?? '') || ['earn', 'earns'].includes(words[end]?.text ?? '')),
  )
}

const SELLING = toWords('sell sold sells selling')
const SALES = toStems(
  'sale sold sell order quantity unit piece copy ticket purchase product article item invoice receipt delivery shipment',
)

/** Whether the question asks how many were sold, and the table has something else, such as repairs. */
function asksForSales(words: readonly Word[], table: TypedTable): boolean {
  if (!words.some(({ text }) => SELLING.has(text)) || !words.some(({ text }) => text === 'many')) return false
  const stems = listTableStems(table)
  return !stems.some((stem) => SALES.has(stem))
}

/** Whether a word for money is none of a column or a value. */
const asksForUnknownMoney = (words: readonly Word[], links: Links, stems: ReadonlySet<string>): boolean =>
  words.some(({ stem, isTitle }, index) => stems.has(stem) && !isTitle && !isLinked(links, index))
