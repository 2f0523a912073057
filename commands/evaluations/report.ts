import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import { formatComparison, formatPassRates, formatSummary, MAX_SHOWN } from '../../src/cli/evaluations/format-report.ts'
import { findRun, listTrend, loadReport, resolveBaseline } from '../../src/cli/evaluations/load-report.ts'
import { htmlFlags, writeReport } from '../../src/cli/html/write-report.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import { runRoutes } from '../../src/contract/families/evaluation-runs.ts'

export default class EvaluationsReport extends CadreCommand {
  static override description =
    'Report on a run as HTML or Markdown.\n\n' +
    'Contains figures, scores, test cases and the trend over runs; with --baseline, also the differences from another run. Without ' +
    '--html or --markdown, prints a summary.'
  static override examples = [
    { command: "cadre evaluations report 'Leave questions' --html report.html", description: 'Write a report of the newest run' },
    {
      command: "cadre evaluations report 'Leave questions' --baseline last --markdown | gh pr comment --body-file -",
      description: 'Comment on a pull request with the differences from the previous run',
    },
    { command: 'cadre evaluations report run_… --baseline run_… --html report.html', description: 'Compare two runs' },
  ]
  static override args = {
    run: string({ required: true, ignoreStdin: true, description: 'ID of a run, or name or ID of an evaluation for its newest run.' }),
  }
  static override flags = {
    baseline: text({ description: 'Run to compare with, or "last" for the previous one.', helpValue: '<run|last>' }),
    ...htmlFlags,
    markdown: boolean({ description: 'Print Markdown for a comment on a pull request.', exclusive: ['html', 'json', 'output'] }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(EvaluationsReport)
    const connection = await this.connect(flags)
    const run = await findRun(connection, args.run)
    const trend = await listTrend(connection, run)
    const baseline = flags.baseline === undefined ? undefined : resolveBaseline(flags.baseline, run, trend)
    if (flags.html !== undefined) {
      const { formatRunHtml } = await import('../../src/cli/evaluations/format-html.ts')
      return writeReport(flags.html, formatRunHtml(await loadReport(connection, run, trend, baseline)), flags, this.notify)
    }
    if (flags.markdown) {
      const { formatRunMarkdown } = await import('../../src/cli/evaluations/format-markdown.ts')
      return void process.stdout.write(formatRunMarkdown(await loadReport(connection, run, trend, baseline)))
    }
    const query = { a: baseline ?? '', b: run.run_id }
    const comparison =
      baseline === undefined ? undefined : (await call(connection, runRoutes.compare, { params: { id: run.evaluation_id }, query })).data
    if (this.getFormat(flags) !== 'table') return this.print({ data: { ...run, comparison, trend } }, flags)
    const output = getOutput(process.stdout)
    const compared = comparison ? ['', ...formatComparison(comparison, output, MAX_SHOWN)] : []
    process.stdout.write(`${[...formatSummary(run, process.stdout), ...formatPassRates(trend, output), ...compared].join('\n')}\n`)
  }
}
