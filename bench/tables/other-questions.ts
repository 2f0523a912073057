/** CPU time that tables add to questions that are not about a table: those of bench/answers, over documents with tables. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askTables } from '../../daemon/knowledge/tables/ask-tables.ts'
import { extractTables } from '../../daemon/knowledge/tables/extract-tables.ts'
import { TableStore } from '../../daemon/knowledge/tables/table-store.ts'
import { TableWordCache } from '../../daemon/knowledge/tables/table-words.ts'
import { loadWeights } from '../../daemon/tables/weights.ts'
import { KINDS, type Kind, loadLabelledDocuments, loadLabelledQuestions } from '../support/answer-sets.ts'
import type { Benchmark, Figure } from '../support/figures.ts'

const MAX_CPU_MS = 10

export const otherQuestions: Benchmark = {
  name: 'other-questions',
  async run(): Promise<Figure[]> {
    const weights = loadWeights()
    const times: number[] = []
    for (const kind of KINDS)
      await withTables(kind, (file) => {
        const cache = new TableWordCache()
        const questions = loadLabelledQuestions().filter((question) => question.kind === kind)
        const ask = (question: string) => askTables(question, [file], weights, cache).computations.length > 0
        // The first question reads the words of the tables.
        ask(questions[0]?.question ?? '')
        for (const { question } of questions) {
          const startedAt = process.cpuUsage()
          const isComputed = ask(question)
          const { user, system } = process.cpuUsage(startedAt)
          if (!isComputed) times.push((user + system) / 1000)
        }
      })
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length
    return [
      {
        name: `CPU that tables add to a question about something else, of ${MAX_CPU_MS} ms`,
        figure: `${mean.toFixed(2)} ms, at most ${Math.max(...times).toFixed(1)} ms, ${times.length} questions`,
        ratio: mean / MAX_CPU_MS,
        bar: { most: 1 },
      },
    ]
  },
}

/** Builds the tables of all documents of a kind, of which some have none. */
async function withTables(kind: Kind, work: (file: TableStore) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-bench-'))
  const path = join(folder, 'tables.db')
  try {
    const writer = TableStore.openForWriting(path)
    for (const { id, name = id, text } of loadLabelledDocuments(kind))
      writer.replace({ id, name, contentHash: id }, await extractTables(Buffer.from(text), name))
    writer.close()
    const file = TableStore.openForReading(path) as TableStore
    work(file)
    file.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
