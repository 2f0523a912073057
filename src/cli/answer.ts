/** An answer for people: what it says, then the passages it stands on. */
import type { Static } from 'typebox'
import type { QueryResult } from '../contract/passages.ts'
import { paint } from './color.ts'
import { passageLines } from './passages.ts'
import type { Paper } from './table.ts'
import { printable, wrap } from './terminal-text.ts'

const WIDEST = 100

export function answerText({ query, answer, results }: Static<typeof QueryResult>, paper: Paper, full = false): string {
  const columns = Math.min(paper.columns, WIDEST)
  const lines = paper.columns === Number.POSITIVE_INFINITY ? [printable(answer)] : wrap(printable(answer), columns)
  const said = lines.map((line) => line.replace(/\[\d+\]/g, (citation) => paint('cyan', citation, paper.stream)))
  const passages = results.flatMap((passage, at) => ['', ...passageLines(passage, at + 1, [], { query, paper, full })])
  return [...said, ...passages].join('\n')
}
