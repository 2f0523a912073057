import { open, rm, stat, writeFile } from 'node:fs/promises'
import { boolean, integer, string as text } from '@oclif/core/flags'
import { followRun, listResults } from '../../src/cli/evaluations/follow-run.ts'
import { formatJunit } from '../../src/cli/evaluations/format-junit.ts'
import {
  formatComparison,
  formatPassRates,
  formatResult,
  formatSummary,
  MAX_SHOWN,
  sortFailuresFirst,
} from '../../src/cli/evaluations/format-report.ts'
import { listTrend } from '../../src/cli/evaluations/load-report.ts'
import { createWriteError } from '../../src/cli/input/file-errors.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { ReportedError, UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { EXIT } from '../../src/cli/terminal/failures/exit-codes.ts'
import { rewriteCommands } from '../../src/cli/terminal/invocation.ts'
import { ProgressDisplay } from '../../src/cli/terminal/progress-bar.ts'
import { quoteShellWord } from '../../src/cli/terminal/shell-quote.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import { runRoutes } from '../../src/contract/families/evaluation-runs.ts'

/** Failed results to fetch before choosing the ones to show; fetching all of a large run would take too long. */
const MAX_READ = 100

export default class EvaluationsRun extends ResourceCommand {
  static override description =
    'Run an evaluation and wait for its results.\n\n' +
    'Exits with 100 if the pass rate is below --fail-under or the run is worse than --baseline.'
  static override examples = [
    { command: "cadre evaluations run 'Leave questions'", description: 'Run an evaluation and show what failed' },
    { command: "cadre evaluations run 'Leave questions' --fail-under 0.9 --junit report.xml", description: 'Gate a release in CI' },
    { command: "cadre evaluations run 'Leave questions' --baseline last", description: 'Fail if it is worse than the previous run' },
  ]
  static override args = { evaluation: createIdArgument(evaluationTopic) }
  static override flags = {
    concurrency: integer({ min: 1, max: 64, description: "Test cases to run in parallel (default: the evaluation's setting)." }),
    repeats: integer({ min: 1, max: 20, description: "Times to run each test case (default: the evaluation's setting)." }),
    'fail-under': text({ description: 'Minimum pass rate from 0 to 1; exit with 100 below it.', helpValue: '<rate>' }),
    baseline: text({ description: 'Run to compare with, or "last"; exit with 100 if worse.', helpValue: '<run|last>' }),
    junit: text({ description: 'Write the results as JUnit XML.', helpValue: '<file>' }),
    wait: boolean({ default: true, allowNo: true, description: 'Wait for the results.' }),
    quiet: boolean({ char: 'q', description: 'Hide progress.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(EvaluationsRun)
    const minimumRate = parseRate(flags['fail-under'])
    const resultFlags = (['fail-under', 'baseline', 'junit'] as const).filter((name) => flags[name] !== undefined)
    if (!flags.wait && resultFlags.length > 0)
      throw new UsageError(`--${resultFlags.join(' and --')} cannot be used with --no-wait.`, 'Omit --no-wait.')
    if (flags.junit !== undefined) await checkWritable(flags.junit)
    const { connection, id } = await this.connectTo(evaluationTopic, args.evaluation, flags)
    const baseline = flags.baseline === 'last' ? await this.#newest(connection, id) : flags.baseline
    if (baseline !== undefined) await call(connection, runRoutes.getRun, { params: { id, run_id: baseline } })
    const body = { concurrency: flags.concurrency, repeats: flags.repeats }
    const { data: started } = await call(connection, runRoutes.run, { params: { id }, body })
    if (!flags.wait) return this.print({ data: started }, flags)
    const display = new ProgressDisplay(flags.quiet)
    const run = await followRun({ ...connection, notify: display.log }, started, args.evaluation, display).finally(() => display.end())
    const all = flags.junit === undefined ? undefined : await listResults(connection, id, run.run_id)
    if (flags.junit !== undefined && all) await writeFile(flags.junit, formatJunit(args.evaluation, all, run.summary.currency))
    const comparison =
      baseline === undefined
        ? undefined
        : (await call(connection, runRoutes.compare, { params: { id }, query: { a: baseline, b: run.run_id } })).data
    if (this.getFormat(flags) !== 'table') await this.print({ data: comparison ? { ...run, comparison } : run }, flags)
    else {
      const output = getOutput(process.stdout)
      const { results, pagination } = (
        await call(connection, runRoutes.results, { params: { id }, query: { run_id: run.run_id, passed: false, limit: MAX_READ } })
      ).data
      const lines = sortFailuresFirst(results)
        .slice(0, MAX_SHOWN)
        .flatMap((result) => [...formatResult(result, output, run.summary.currency), ''])
      const more =
        pagination.total > MAX_SHOWN
          ? [rewriteCommands(`and ${pagination.total - MAX_SHOWN} more: cadre evaluations results ${quoteShellWord(args.evaluation)}`), '']
          : []
      const compared = comparison ? ['', ...formatComparison(comparison, output, MAX_SHOWN)] : []
      const trend = formatPassRates(await listTrend(connection, run), output)
      process.stdout.write(`${[...lines, ...more, ...formatSummary(run, process.stdout), ...trend, ...compared].join('\n')}\n`)
    }
    if (run.status !== 'completed') {
      if (resultFlags.length > 0) this.notify(`The run was not completed (${run.status}), so its pass rate was not checked.`)
      throw new ReportedError()
    }
    const isBelow = minimumRate !== undefined && run.summary.pass_rate < minimumRate
    if (isBelow) this.notify(`The pass rate ${run.summary.pass_rate.toFixed(3)} is below ${minimumRate}.`)
    const isWorse = comparison !== undefined && (comparison.pass_rate_change < 0 || comparison.verdict === 'worse')
    if (isWorse) this.notify('The run is worse than the baseline.')
    if (isBelow || isWorse) throw new ReportedError(EXIT.evaluationFailed)
  }

  async #newest(connection: Parameters<typeof call>[0], id: string): Promise<string | undefined> {
    const { data } = await call(connection, runRoutes.runs, { params: { id }, query: { limit: 1, status: 'completed' } as object })
    if (!data[0]) this.notify('There is no previous run to compare with.')
    return data[0]?.run_id
  }
}

function parseRate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value >= 0 && value <= 1) || text.trim() === '') throw new UsageError('--fail-under must be a number from 0 to 1, such as 0.9.')
  return value
}

/** Fails before the run rather than after it, when its answers have been paid for. */
async function checkWritable(file: string): Promise<void> {
  try {
    const before = await stat(file).catch(() => undefined) // a file created by this check is removed again
    await (await open(file, 'a')).close()
    if (!before) await rm(file)
  } catch (error) {
    throw createWriteError(file, error)
  }
}
