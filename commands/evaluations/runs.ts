import { integer } from '@oclif/core/flags'
import { formatPassRates } from '../../src/cli/evaluations/format-report.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import { runRoutes } from '../../src/contract/families/evaluation-runs.ts'

export default class EvaluationsRuns extends ResourceCommand {
  static override description = 'List the runs of an evaluation, newest first.'
  static override examples = [{ command: "cadre evaluations runs 'Leave questions'", description: 'List the newest runs' }]
  static override args = { evaluation: createIdArgument(evaluationTopic) }
  static override flags = { limit: integer({ min: 1, max: 100, default: 20, description: 'Maximum number of runs to list.' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(EvaluationsRuns)
    const { connection, id } = await this.connectTo(evaluationTopic, args.evaluation, flags)
    const { data } = await call(connection, runRoutes.runs, { params: { id }, query: { limit: flags.limit } as object })
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    const rows = data.map(({ run_id, status, created_at, summary: { pass_rate, average_score, passed, total } }) => ({
      id: run_id,
      status,
      pass_rate: `${(pass_rate * 100).toFixed(0)} %`,
      score: average_score === null ? null : Number(average_score.toFixed(3)),
      passed: `${passed}/${total}`,
      created_at,
    }))
    const completed = data.filter(({ status }) => status === 'completed').reverse()
    // Scripts read the table alone.
    if (process.stdout.isTTY) for (const line of formatPassRates(completed, getOutput(process.stdout))) process.stdout.write(`${line}\n\n`)
    await this.print({ data: rows, columns: ['id', 'status', 'pass_rate', 'score', 'passed', 'created_at'] }, flags)
  }
}
