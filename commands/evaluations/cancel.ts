import { string } from '@oclif/core/args'
import { formatSummary } from '../../src/cli/evaluations/format-report.ts'
import { getRun } from '../../src/cli/evaluations/load-report.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { call } from '../../src/client/call.ts'
import { runRoutes } from '../../src/contract/families/evaluation-runs.ts'

export default class EvaluationsCancel extends ResourceCommand {
  static override description = 'Cancel a run of an evaluation.\n\nCancels the newest run unless RUN is given. Finished results are kept.'
  static override examples = [{ command: "cadre evaluations cancel 'Leave questions'", description: 'Cancel the newest run' }]
  static override args = {
    evaluation: createIdArgument(evaluationTopic),
    run: string({ ignoreStdin: true, description: 'ID of the run.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(EvaluationsCancel)
    const { connection, id } = await this.connectTo(evaluationTopic, args.evaluation, flags)
    const run_id = args.run ?? (await getRun(connection, id)).run_id
    const { data } = await call(connection, runRoutes.cancel, { params: { id, run_id } })
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    process.stdout.write(`${formatSummary(data, process.stdout).join('\n')}\n`)
  }
}
