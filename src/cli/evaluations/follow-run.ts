/** Follows a run of an evaluation with a progress bar, and lists its results. */
import { call, stream } from '../../client/call.ts'
import { UnreachableError } from '../../client/errors.ts'
import { readAllPages } from '../../client/paginate.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { MAX_RESULTS_PER_PAGE, type Run, type RunResult, runRoutes } from '../../contract/families/evaluation-runs.ts'
import type { ProgressDisplay } from '../terminal/progress-bar.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { formatFigures } from './format-report.ts'

/** `evaluation` is its name or ID, as the user typed it. */
export function followRun(connection: Connection, started: Run, evaluation: string, display: ProgressDisplay): Promise<Run> {
  const name = quoteShellWord(evaluation)
  const describe = () =>
    'The run continues in the background.\n' +
    `Show it:   cadre evaluations results ${name} --run ${started.run_id}\n` +
    `Cancel it: cadre evaluations cancel ${name} ${started.run_id}`
  return display.explainInterruption(describe, () => readRunEvents(connection, started, name, display))
}

async function readRunEvents(connection: Connection, started: Run, name: string, display: ProgressDisplay): Promise<Run> {
  const params = { id: started.evaluation_id, run_id: started.run_id }
  try {
    for await (const { event, data } of stream(connection, runRoutes.runEvents, { params })) {
      const { run } = JSON.parse(data) as { run: Run }
      if (event === 'end') return run
      const { summary } = run
      const { passed, failed, errors, total } = summary
      const note = [`${passed} passed`, failed > 0 ? `${failed} failed` : '', errors > 0 ? `${errors} errors` : '']
        .filter(Boolean)
        .join(', ')
      const below = (columns: number) => formatFigures(summary, { columns, stream: process.stderr })
      display.show({ label: run.status === 'queued' ? 'Waiting' : 'Running', done: run.done, total, unit: 'cases', note, below })
    }
  } catch (error) {
    throw error instanceof CadreError || error instanceof UnreachableError ? error : createDisconnectedError(name, started.run_id, error)
  }
  throw createDisconnectedError(name, started.run_id)
}

const createDisconnectedError = (evaluation: string, run_id: string, cause?: unknown) =>
  new UnreachableError('The connection to the daemon was lost during the run.', {
    hint:
      'The run continues when the daemon is started: cadre daemon start\n' +
      `Then show it: cadre evaluations results ${evaluation} --run ${run_id}`,
    cause,
  })

/** Lists every result of a run, in pages of the maximum size: many small pages could exceed the rate limit. */
export async function listResults(connection: Connection, id: string, run_id: string, passed?: boolean): Promise<RunResult[]> {
  const read = async (page: number) => {
    const query = { run_id, page, limit: MAX_RESULTS_PER_PAGE, passed }
    const { results, pagination } = (await call(connection, runRoutes.results, { params: { id }, query })).data
    return { data: results, pagination }
  }
  return readAllPages(read, connection)
}
