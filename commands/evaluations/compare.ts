import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { formatComparison, MAX_SHOWN } from '../../src/cli/evaluations/format-report.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { quoteShellWord } from '../../src/cli/terminal/shell-quote.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import { runRoutes } from '../../src/contract/families/evaluation-runs.ts'

export default class EvaluationsCompare extends ResourceCommand {
  static override description =
    'Compare two runs of an evaluation.\n\n' +
    'Shows which test cases improved or regressed and whether the difference is significant (sign test). Without run identifiers, ' +
    'compares the two newest completed runs.'
  static override examples = [
    { command: "cadre evaluations compare 'Leave questions'", description: 'Compare the two newest runs' },
    { command: "cadre evaluations compare 'Leave questions' run_… run_…", description: 'Compare two runs, the baseline first' },
  ]
  static override args = {
    evaluation: createIdArgument(evaluationTopic),
    a: string({ ignoreStdin: true, description: 'ID of the baseline run.' }),
    b: string({ ignoreStdin: true, description: 'ID of the run to compare with the baseline.' }),
  }
  static override flags = { all: boolean({ char: 'a', description: 'Show every difference.' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(EvaluationsCompare)
    const { connection, id } = await this.connectTo(evaluationTopic, args.evaluation, flags)
    const { data: runs } = await call(connection, runRoutes.runs, { params: { id }, query: { limit: 2, status: 'completed' } as object })
    const [newest, before] = runs
    const b = args.b ?? newest?.run_id
    const a = args.a ?? before?.run_id
    if (!a || !b)
      throw new UsageError('Comparing needs two completed runs.', `Start one: cadre evaluations run ${quoteShellWord(args.evaluation)}`)
    const { data } = await call(connection, runRoutes.compare, { params: { id }, query: { a, b } })
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    process.stdout.write(
      `${formatComparison(data, getOutput(process.stdout), flags.all ? Number.POSITIVE_INFINITY : MAX_SHOWN).join('\n')}\n`,
    )
  }
}
