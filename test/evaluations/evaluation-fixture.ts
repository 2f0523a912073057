/** Runs of evaluations as tests follow them. */
import { good } from '../harness/answers.ts'
import type { Json, Service } from '../harness/app.ts'
import { until } from '../knowledge/knowledge-fixture.ts'

/** How a run ended, with its results; the newest where none is named. */
export const ended = (service: Service, id: string, runId?: string): Promise<Json> =>
  until(async () => {
    const results = await good(service.get(`/evaluations/${id}/results${runId ? `?run_id=${runId}` : ''}`))
    return !['queued', 'running'].includes(results.status) && results
  })

/** Begins a run and waits for its end. */
export async function run(service: Service, id: string, pace: object = {}): Promise<Json> {
  const { run_id } = await good(service.post(`/evaluations/${id}/run`, pace))
  return ended(service, id, run_id)
}
