/** Formats the answer of a RAG tool with its passages. */
import type { QueryResult } from '../../contract/schemas/passages.ts'
import { formatProse } from '../terminal/format-prose.ts'
import type { Output } from '../terminal/table.ts'
import { findCitedText } from './find-quote.ts'
import { formatPassage } from './format-passages.ts'

interface AnswerOptions {
  output: Output
  /** Whether to show whole passages instead of excerpts. */
  full?: boolean | undefined
  /** Whether to show also the passages that the answer does not cite. */
  all?: boolean | undefined
}

type CitedAnswer = Pick<QueryResult, 'query' | 'answer' | 'results'>

/** No search returns more. */
const MAX_PASSAGES = 100

/** Models cite `[1]`, `[1, 3]` and `[1-3]`. */
const CITATION = /\[(\d+(?:\s*[,;–-]\s*\d+)*)\]/g

function findCited({ answer }: Pick<CitedAnswer, 'answer'>): Set<number> {
  const parts = Array.from(answer.matchAll(CITATION), ([, inside = '']) => inside.split(/[,;]/)).flat()
  const listNumbers = ([first = 0, last = first]: number[]) => Array.from({ length: last - first + 1 }, (_, at) => first + at)
  return new Set(
    parts.flatMap((part) =>
      listNumbers(
        part
          .split(/[–-]/, 2)
          .map(Number)
          .map((number) => Math.min(number, MAX_PASSAGES)),
      ),
    ),
  )
}

/** Returns the number of passages that the answer does not cite. */
export function countUncited(result: CitedAnswer): number {
  const cited = findCited(result)
  return result.results.filter((_, index) => !cited.has(index + 1)).length
}

export function formatCitedAnswer(result: CitedAnswer, { output, full, all }: AnswerOptions): string {
  const { query, answer, results } = result
  const cited = findCited(result)
  const getNotes = (isCited: boolean, isLoose = false) =>
    isLoose ? ['only loosely related'] : cited.size > 0 && !isCited ? ['not cited'] : []
  const passages = results.flatMap((passage, index) => {
    const number = index + 1
    if (!all && !cited.has(number)) return []
    const options = { query, output, full: full === true, quoted: findCitedText(answer, number) }
    return ['', ...formatPassage(passage, number, getNotes(cited.has(number), passage.loose), options)]
  })
  return [formatProse(answer, output), ...passages].join('\n')
}
