/** Loads the public retrieval sets if present, otherwise the built-in set. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OWN_SET, type RetrievalSet } from './codebase-set.ts'

/** One folder per set in the BEIR layout (corpus.jsonl, queries.jsonl, qrels.tsv). */
const SETS_FOLDER = process.env.CADRE_RETRIEVAL_SETS ?? join('..', 'shared', 'retrieval')

export function loadRetrievalSets(): RetrievalSet[] {
  if (!existsSync(SETS_FOLDER)) return [OWN_SET]
  const names = readdirSync(SETS_FOLDER).filter((name) => existsSync(join(SETS_FOLDER, name, 'corpus.jsonl')))
  return names.length === 0 ? [OWN_SET] : names.map(readSet)
}

function readSet(name: string): RetrievalSet {
  const lines = (file: string) =>
    readFileSync(join(SETS_FOLDER, name, file), 'utf8')
      .split('\n')
      .filter(Boolean)
  const relevant: RetrievalSet['relevant'] = new Map()
  for (const line of lines('qrels.tsv')) {
    const [query = '', document = '', grade] = line.split('\t')
    if (!Number.isFinite(Number(grade))) continue
    relevant.set(query, (relevant.get(query) ?? new Map()).set(document, Number(grade)))
  }
  const documents = lines('corpus.jsonl').map((line) => {
    const { id, title, text } = JSON.parse(line) as { id: string; title?: string; text: string }
    return { id, text: title ? `${title}\n\n${text}` : text }
  })
  return { name, documents, queries: lines('queries.jsonl').map((line) => JSON.parse(line) as { id: string; text: string }), relevant }
}

/** Normalized discounted cumulative gain of the first ten results, with linear gain as in BEIR. */
export function computeNdcg10(ranked: readonly string[], relevant: Map<string, number>): number {
  const gain = (grades: readonly number[]) => grades.slice(0, 10).reduce((sum, grade, rank) => sum + grade / Math.log2(rank + 2), 0)
  const ideal = gain([...relevant.values()].filter((grade) => grade > 0).sort((a, b) => b - a))
  return gain(ranked.map((id) => Math.max(0, relevant.get(id) ?? 0))) / ideal
}
