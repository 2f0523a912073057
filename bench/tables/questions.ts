/** Answers the questions of WikiTableQuestions' dev split from their table alone. */
import { answerTableQuestion } from '../../daemon/tables/answer-table-question.ts'
import { loadWeights } from '../../daemon/tables/weights.ts'
import { openTable } from '../../test/tables/open-table.ts'
import type { Benchmark, Figure } from '../support/figures.ts'
import { isSameAnswer, loadTableQuestions, type QuestionTable, type TableQuestion } from '../support/table-questions.ts'

const MIN_RIGHT_OF_ALL = 0.3
const MIN_RIGHT_OF_ANSWERED = 0.7
/** Every n-th table is asked, to save time. */
const SAMPLE_INTERVAL = Math.max(1, Number(process.env.CADRE_BENCH_SAMPLE) || 1)

export const tables: Benchmark = {
  name: 'tables',
  async run(): Promise<Figure[]> {
    const data = loadTableQuestions()
    if (!data) return []
    const byTable = new Map<string, TableQuestion[]>()
    for (const question of data.questions)
      if (question.split === 'dev') byTable.set(question.table, [...(byTable.get(question.table) ?? []), question])
    const [startedAt, weights] = [process.cpuUsage(), loadWeights()]
    let [all, answered, right] = [0, 0, 0]
    for (const [name, questions] of [...byTable].filter((_, index) => index % SAMPLE_INTERVAL === 0)) {
      const { header, rows } = data.tables.get(name) as QuestionTable
      const opened = openTable(name, header, rows)
      for (const { text, answers } of questions) {
        const [answer] = answerTableQuestion(text, [opened], weights)
        all++
        if (!answer) continue
        answered++
        if (isSameAnswer(answer.values, answers)) right++
      }
      opened.close()
    }
    const { user, system } = process.cpuUsage(startedAt)
    return [
      createShare('WikiTableQuestions, right of all', right, all, MIN_RIGHT_OF_ALL),
      createShare('WikiTableQuestions, right of those answered', right, answered, MIN_RIGHT_OF_ANSWERED),
      { name: 'CPU per question', figure: `${((user + system) / 1000 / all).toFixed(1)} ms` },
    ]
  },
}

const createShare = (name: string, count: number, total: number, least: number): Figure => ({
  name,
  figure: `${count} of ${total}`,
  ratio: total === 0 ? 0 : count / total,
  bar: { least },
})
