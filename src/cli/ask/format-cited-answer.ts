/** Formats the answer of a RAG tool with its passages. */
import type { QueryResult } from '../../contract/schemas/passages.ts'
import { formatProse } from '../terminal/format-prose.ts'
import type { Output } from '../terminal/table.ts'
import { formatPassage } from './format-passages.ts'

export function formatCitedAnswer(
  { query, answer, results }: Pick<QueryResult, 'query' | 'answer' | 'results'>,
  output: Output,
  full = false,
): string {
  const cited = new Set(Array.from(answer.matchAll(/\[(\d+)\]/g), ([, number]) => Number(number)))
  const getNotes = (number: number, isLoose = false) =>
    isLoose ? ['only loosely related'] : cited.size > 0 && !cited.has(number) ? ['not cited'] : []
  const passages = results.flatMap((passage, index) => [
    '',
    ...formatPassage(passage, index + 1, getNotes(index + 1, passage.loose), { query, output, full }),
  ])
  return [formatProse(answer, output), ...passages].join('\n')
}
