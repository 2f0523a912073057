/** Chooses what unclear words of a question mean: the name of a column or a value that is clearly the most similar one. */
import { type Condition, listAllConditions, listUsedColumns, type Query } from '../query.ts'
import type { Column, TypedTable } from '../typed-table.ts'
import { nameColumn, type UnclearPhrase } from './unclear-words.ts'

/** Words of a question, and the name of a column or a value that they are taken to mean. */
export interface Meaning {
  phrase: string
  name: string
}

/** In similarity, over the second name. */
const MIN_LEAD = 0.08

/** `vectors` are normalized. */
export function chooseMeanings(unclear: readonly UnclearPhrase[], vectors: ReadonlyMap<string, Float32Array>): Meaning[] {
  const found = unclear.flatMap(({ phrase, names, minSimilarity }) => {
    const [best, second] = names
      .map((name) => ({ phrase, name, similarity: multiply(vectors.get(phrase), vectors.get(name)) }))
      .sort((a, b) => b.similarity - a.similarity)
    return best && best.similarity >= minSimilarity && best.similarity - (second?.similarity ?? 0) >= MIN_LEAD ? [best] : []
  })
  const chosen: Meaning[] = []
  for (const { phrase, name } of found.sort((a, b) => b.similarity - a.similarity)) {
    const words = phrase.split(' ')
    if (!chosen.some((other) => other.phrase.split(' ').some((word) => words.includes(word)))) chosen.push({ phrase, name })
  }
  return chosen
}

const multiply = (first: Float32Array | undefined, second: Float32Array | undefined): number =>
  first && second ? first.reduce((sum, value, index) => sum + value * (second[index] as number), 0) : 0

/** Writes names in place of the words that mean them. */
export const replacePhrases = (text: string, meanings: readonly Meaning[]): string =>
  meanings.reduce((replaced, { phrase, name }) => {
    const words = phrase.replaceAll(' ', String.raw`[^\p{L}\p{N}]+`)
    return replaced.replace(new RegExp(String.raw`(?<![\p{L}\p{N}])${words}(?![\p{L}\p{N}])`, 'iu'), () => name.toLowerCase())
  }, text)

/** Whether a query uses the column or the value that words were taken to mean. Otherwise the words would be dropped. */
export function usesMeaning({ columns }: TypedTable, query: Query, { name }: Meaning): boolean {
  const hasValue = (condition: Condition): boolean =>
    condition.kind === 'equals' ? condition.values.includes(name) : condition.kind === 'all' && condition.conditions.some(hasValue)
  // A computed column is called by those that it is computed from.
  return (
    listAllConditions(query).some(hasValue) || listUsedColumns(query).some((column) => nameColumn(columns[column] as Column).includes(name))
  )
}

export const describeMeaning = ({ phrase, name }: Meaning): string => `“${phrase}” was taken to mean ${name}.`
