/** Compares two runs of an evaluation. */
import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { comparisonLines } from '../../src/cli/evaluations/format-report.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveOwn } from '../../src/cli/resources/resolve-references.ts'
import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { UsageError } from '../../src/cli/terminal/errors.ts'
import { paperFor } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import { runRoutes } from '../../src/contract/families/evaluation-runs.ts'

const SHOWN = 10

export default class EvaluationsCompare extends CadreCommand {
  static override description =
    'Compare two runs: which test cases went better or worse, and whether that is more than chance (a sign test).\n\nWithout runs, the newest with the one before it.'
  static override examples = [
    { command: "cadre evaluations compare 'Leave questions'", description: 'The newest run with the one before it' },
    { command: "cadre evaluations compare 'Leave questions' run_… run_…", description: 'Two runs, the older first' },
  ]
  static override args = {
    evaluation: string({ required: true, ignoreStdin: true, description: 'Identifier or name of the evaluation.' }),
    a: string({ ignoreStdin: true, description: 'Identifier of the run to compare with.' }),
    b: string({ ignoreStdin: true, description: 'Identifier of the run that is judged.' }),
  }
  static override flags = { all: boolean({ char: 'a', description: 'Every difference.' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(EvaluationsCompare)
    const connection = await this.connect(flags)
    const id = await resolveOwn(connection, evaluationTopic, args.evaluation)
    const { data: runs } = await call(connection, runRoutes.runs, { params: { id }, query: { limit: 2, status: 'completed' } as object })
    const [newest, before] = runs
    const b = args.b ?? newest?.run_id
    const a = args.a ?? before?.run_id
    if (!a || !b) throw new UsageError('There are not two runs to compare yet.', `cadre evaluations run ${id} makes one.`)
    const { data } = await call(connection, runRoutes.compare, { params: { id }, query: { a, b } })
    if (this.formatOf(flags) !== 'table') return this.print({ data }, flags)
    process.stdout.write(`${comparisonLines(data, paperFor(process.stdout), flags.all ? Number.POSITIVE_INFINITY : SHOWN).join('\n')}\n`)
  }
}
