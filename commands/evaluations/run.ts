/** Runs an evaluation and says how it went. */
import { open, rm, stat, writeFile } from 'node:fs/promises'
import { string } from '@oclif/core/args'
import { boolean, integer, string as text } from '@oclif/core/flags'
import { followRun, resultsOf } from '../../src/cli/evaluations/follow-run.ts'
import { comparisonLines, failuresFirst, resultLines, summaryLines } from '../../src/cli/evaluations/format-report.ts'
import { junit } from '../../src/cli/evaluations/junit.ts'
import { unwritable } from '../../src/cli/input/file-errors.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveOwn } from '../../src/cli/resources/resolve-references.ts'
import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { EXIT, QuietFailure, UsageError } from '../../src/cli/terminal/errors.ts'
import { asTyped } from '../../src/cli/terminal/invocation.ts'
import { ProgressDisplay } from '../../src/cli/terminal/progress-bar.ts'
import { paperFor } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import { runRoutes } from '../../src/contract/families/evaluation-runs.ts'

const SHOWN = 10
/** Failures that those are chosen from: to read ten thousand for the sake of ten would take longer than the run. */
const MOST_READ = 100

export default class EvaluationsRun extends CadreCommand {
  static override description =
    'Run an evaluation and wait for its results.\n\nExits with 100 when the pass rate is under --fail-under, or when the run is worse than --baseline, so that a release can be gated on it.'
  static override examples = [
    { command: "cadre evaluations run 'Leave questions'", description: 'Run it, and see what failed' },
    { command: "cadre evaluations run 'Leave questions' --fail-under 0.9 --junit report.xml", description: 'In CI' },
    { command: "cadre evaluations run 'Leave questions' --baseline last", description: 'Fail when it got worse than the run before' },
  ]
  static override args = { evaluation: string({ required: true, ignoreStdin: true, description: 'Identifier or name of the evaluation.' }) }
  static override flags = {
    concurrency: integer({ min: 1, max: 64, description: "Test cases at the same time; the evaluation's own when left out." }),
    repeats: integer({ min: 1, max: 20, description: "How often each test case runs; the evaluation's own when left out." }),
    'fail-under': text({ description: 'Least pass rate, from 0 to 1; under it the command exits with 100.', helpValue: '<rate>' }),
    baseline: text({ description: 'A run to compare with, or "last" for the one before; worse exits with 100.', helpValue: '<run|last>' }),
    junit: text({ description: 'Write the results as JUnit XML.', helpValue: '<file>' }),
    wait: boolean({ default: true, allowNo: true, description: 'Wait for the results.' }),
    quiet: boolean({ char: 'q', description: 'No progress.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(EvaluationsRun)
    const least = rate(flags['fail-under'])
    const judged = (['fail-under', 'baseline', 'junit'] as const).filter((name) => flags[name] !== undefined)
    if (!flags.wait && judged.length > 0)
      throw new UsageError(
        `--${judged.join(' and --')} need${judged.length === 1 ? 's' : ''} the results, which --no-wait does not wait for.`,
        'Leave out --no-wait.',
      )
    if (flags.junit !== undefined) await checkWritable(flags.junit)
    const connection = await this.connect(flags)
    const id = await resolveOwn(connection, evaluationTopic, args.evaluation)
    const baseline = flags.baseline === 'last' ? await this.#newest(connection, id) : flags.baseline
    if (baseline !== undefined) await call(connection, runRoutes.getRun, { params: { id, run_id: baseline } })
    const pace = { ...(flags.concurrency ? { concurrency: flags.concurrency } : {}), ...(flags.repeats ? { repeats: flags.repeats } : {}) }
    const { data: started } = await call(connection, runRoutes.run, { params: { id }, body: pace })
    if (!flags.wait) return this.print({ data: started }, flags)
    const display = new ProgressDisplay(flags.quiet)
    const run = await followRun({ ...connection, narrate: display.say }, started, display).finally(() => display.end())
    const all = flags.junit === undefined ? undefined : await resultsOf(connection, id, run.run_id)
    if (flags.junit !== undefined && all) await writeFile(flags.junit, junit(args.evaluation, all))
    const comparison =
      baseline === undefined
        ? undefined
        : (await call(connection, runRoutes.compare, { params: { id }, query: { a: baseline, b: run.run_id } })).data
    if (this.formatOf(flags) !== 'table') await this.print({ data: comparison ? { ...run, comparison } : run }, flags)
    else {
      const paper = paperFor(process.stdout)
      const { results, pagination } = (
        await call(connection, runRoutes.results, { params: { id }, query: { run_id: run.run_id, passed: false, limit: MOST_READ } })
      ).data
      const lines = failuresFirst(results)
        .slice(0, SHOWN)
        .flatMap((result) => [...resultLines(result, paper), ''])
      const more = pagination.total > SHOWN ? [asTyped(`and ${pagination.total - SHOWN} more: cadre evaluations results ${id}`), ''] : []
      const compared = comparison ? ['', ...comparisonLines(comparison, paper, SHOWN)] : []
      process.stdout.write(`${[...lines, ...more, ...summaryLines(run, process.stdout), ...compared].join('\n')}\n`)
    }
    if (run.status !== 'completed') {
      if (judged.length > 0) this.narrate(`The run was not completed (${run.status}), so nothing is said of its pass rate.`)
      throw new QuietFailure()
    }
    const under = least !== undefined && run.summary.pass_rate < least
    if (under) this.narrate(`The pass rate ${run.summary.pass_rate.toFixed(3)} is under ${least}.`)
    const worse = comparison !== undefined && (comparison.pass_rate_change < 0 || comparison.verdict === 'worse')
    if (worse) this.narrate('It got worse than the baseline.')
    if (under || worse) throw new QuietFailure(EXIT.underBar)
  }

  async #newest(connection: Parameters<typeof call>[0], id: string): Promise<string | undefined> {
    const { data } = await call(connection, runRoutes.runs, { params: { id }, query: { limit: 1, status: 'completed' } as object })
    if (!data[0]) this.narrate('There is no run before this one to compare with.')
    return data[0]?.run_id
  }
}

function rate(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const value = Number(given)
  if (!(value >= 0 && value <= 1) || given.trim() === '') throw new UsageError('--fail-under is a rate from 0 to 1, such as 0.9.')
  return value
}

/** Before the run: its answers may have cost an hour and money when the report turns out to have no place. */
async function checkWritable(file: string): Promise<void> {
  try {
    const before = await stat(file).catch(() => undefined) // none yet: none is left where the run comes to nothing
    await (await open(file, 'a')).close()
    if (!before) await rm(file)
  } catch (error) {
    throw unwritable(file, error)
  }
}
