/**
 * CPU time that tables add to questions that are not about a table, those of bench/answers over documents with tables, relative to
 * embedding these questions, which a search does anyway.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddingModel } from '../../daemon/inference/embedding-model.ts'
import { MinilmTokenizer } from '../../daemon/inference/minilm-tokenizer.ts'
import { getModelsDirectory } from '../../daemon/inference/paths.ts'
import { askTables } from '../../daemon/knowledge/tables/ask-tables.ts'
import { extractTables } from '../../daemon/knowledge/tables/extract-tables.ts'
import { TableStore } from '../../daemon/knowledge/tables/table-store.ts'
import { TableWordCache } from '../../daemon/knowledge/tables/table-words.ts'
import { loadWeights } from '../../daemon/tables/weights.ts'
import { KINDS, type Kind, loadLabelledDocuments, loadLabelledQuestions } from '../support/answer-sets.ts'
import type { Benchmark, Figure } from '../support/figures.ts'
import { measureCpu } from '../support/measure-cpu.ts'

/** Measured: 1.76, on two very busy cores. */
const MAX_RATIO = 2.4

export const otherQuestions: Benchmark = {
  name: 'other-questions',
  async run(): Promise<Figure[]> {
    const weights = loadWeights()
    const directory = getModelsDirectory()
    const embedding = await EmbeddingModel.load(directory, MinilmTokenizer.load(directory))
    const times: number[] = []
    const others: string[] = []
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
          if (isComputed) continue
          times.push((user + system) / 1000)
          others.push(question)
        }
      })
    // Warm-up.
    for (const question of others.slice(0, 10)) await embedding.embed(question)
    const embedMs = await measureCpu(async () => {
      for (const question of others) await embedding.embed(question)
    })
    const totalMs = times.reduce((sum, time) => sum + time, 0)
    const [mean, embedMean] = [totalMs / times.length, embedMs / times.length]
    return [
      {
        name: 'CPU that tables add to a question about something else, relative to embedding it',
        figure: `${mean.toFixed(2)} to ${embedMean.toFixed(2)} ms, at most ${Math.max(...times).toFixed(1)} ms, ${times.length} questions`,
        ratio: mean / embedMean,
        bar: { most: MAX_RATIO },
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
