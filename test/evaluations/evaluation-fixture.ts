/** Runs of evaluations as tests follow them. */
import { expectData } from '../harness/expect.ts'
import type { Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

/** How a run ended, with its results; the newest where none is named. */
export const ended = (service: TestServer, id: string, runId?: string): Promise<Json> =>
  waitFor(async () => {
    const results = await expectData(service.get(`/evaluations/${id}/results${runId ? `?run_id=${runId}` : ''}`))
    return !['queued', 'running'].includes(results.status) && results
  })

/** Begins a run and waits for its end. */
export async function run(service: TestServer, id: string, pace: object = {}): Promise<Json> {
  const { run_id } = await expectData(service.post(`/evaluations/${id}/run`, pace))
  return ended(service, id, run_id)
}
