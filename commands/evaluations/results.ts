import { writeFile } from 'node:fs/promises'
import { boolean, string as text } from '@oclif/core/flags'
import { listResults } from '../../src/cli/evaluations/follow-run.ts'
import { formatJunit } from '../../src/cli/evaluations/format-junit.ts'
import { formatResult, formatSummary, sortFailuresFirst } from '../../src/cli/evaluations/format-report.ts'
import { getRun } from '../../src/cli/evaluations/load-report.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'

export default class EvaluationsResults extends ResourceCommand {
  static override description = 'Show the results of a run, failures first.\n\nShows the newest run unless --run names another.'
  static override examples = [
    { command: "cadre evaluations results 'Leave questions'", description: 'Show the results of the newest run' },
    { command: "cadre evaluations results 'Leave questions' --failed --json", description: 'Print the failures as JSON' },
  ]
  static override args = { evaluation: createIdArgument(evaluationTopic) }
  static override flags = {
    run: text({ description: 'ID of the run.', helpValue: '<run>' }),
    failed: boolean({ description: 'Show only results that did not pass.' }),
    junit: text({ description: 'Write the results as JUnit XML.', helpValue: '<file>' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(EvaluationsResults)
    const { connection, id } = await this.connectTo(evaluationTopic, args.evaluation, flags)
    const { configuration, ...run } = await getRun(connection, id, flags.run)
    const results = sortFailuresFirst(await listResults(connection, id, run.run_id, flags.failed ? false : undefined))
    if (flags.junit) await writeFile(flags.junit, formatJunit(args.evaluation, results, run.summary.currency))
    const format = this.getFormat(flags)
    if (format === 'csv') return this.print({ data: results }, flags)
    if (format !== 'table') return this.print({ data: { ...run, configuration, results } }, flags)
    const output = getOutput(process.stdout)
    const lines = [
      ...results.flatMap((result) => formatResult(result, output, run.summary.currency)),
      '',
      ...formatSummary(run, process.stdout),
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
  }
}
