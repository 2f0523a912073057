/** Finds the column that says in which way something was done: "how do most people pay?" asks for the column "Paid by". */
import type { ColumnLink } from '../linking/links.ts'
import type { Question } from '../parse-question.ts'
import type { Column } from '../typed-table.ts'

const WAYS = '(?:ways?|methods?|means|forms?|modes?|channels?)'
const PEOPLE = String.raw`(?:our |the |your )?\p{L}+`

/** "How do most people pay?" is "which way of paying is most common". */
export const nameMethods = (text: string): string =>
  text
    .replace(
      new RegExp(
        String.raw`^how (?:do|did|does|have|has) (${PEOPLE}) (\p{L}+)(?: (?:about|of) us)?[,;?]*(?: and)? how many(?: \p{L}+)??` +
          String.raw` (?:for|per|in|of|by)? ?each\b(?: ${WAYS})?`,
        'iu',
      ),
      'how many $1 per way of $2',
    )
    .replace(
      new RegExp(String.raw`^how (?:do|did) most (?:of )?${PEOPLE} (\p{L}+)(?: (?:about|of|with|to|from) us)?\W*$`, 'iu'),
      'which way of $1 is used most often',
    )
    .replace(/(\b(?:which|what) .*\b(?:used?|chosen?|pick|like|prefer|seen?)) (?:the )?most(?=\W*$)/iu, '$1 most often')

const WAY = new RegExp(`^${WAYS}$`)
const METHOD = /\b(?:via|through|by|method|channel|how|means|source|type|from)\b/i
const FORMS = new Map(Object.entries({ hear: 'heard', pay: 'pa(?:y|id)', find: 'f(?:i|ou)nd', buy: 'b(?:uy|ought)', come: 'c[ao]me' }))
/** Of "bidding" and "booking". */
const toBase = (verb: string): string => verb.replace(/(?:([bdgmnpt])\1)?(?:ing|s)$/, '$1')

/** "Way of booking" is the column "Booked via". */
export function linkMethods({ words, today }: Question, columns: readonly Column[]): ColumnLink[] {
  const start = words.findIndex(({ text }, index) => WAY.test(text) && words[index + 1]?.text === 'of')
  const base = toBase(words[start + 2]?.text ?? '')
  if (today === undefined || start < 0 || base.length < 3) return []
  const toName = ({ header }: Column) => header.replaceAll('_', ' ')
  const pattern = new RegExp(String.raw`\b(?:${FORMS.get(base) ?? base})`, 'i')
  const texts = [...columns.keys()].filter((column) => columns[column]?.type === 'text' && !columns[column]?.readings.date)
  const named = texts.filter((column) => pattern.test(toName(columns[column] as Column)))
  const methods = (named.length > 0 ? named : texts).filter((column) => METHOD.test(toName(columns[column] as Column)))
  const found = methods.length > 0 ? methods : named
  return found.length === 1 ? [{ column: found[0] as number, start, end: start + 3, match: 'exact' }] : []
}
