/** Starts evaluation runs and reads their results. */
import { expectData } from '../harness/expect.ts'
import type { Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

/** Returns the finished run and its results; by default the newest run. */
export const waitForEnd = (service: TestServer, id: string, runId?: string): Promise<Json> =>
  waitFor(
    async () => {
      const results = await expectData(service.get(`/evaluations/${id}/results${runId ? `?run_id=${runId}` : ''}`))
      return !['queued', 'running'].includes(results.status) && results
    },
    { description: `the end of a run of ${id}` },
  )

/** Starts a run and waits for its end. */
export async function runEvaluation(service: TestServer, id: string, pace: object = {}): Promise<Json> {
  const { run_id } = await expectData(service.post(`/evaluations/${id}/run`, pace))
  return waitForEnd(service, id, run_id)
}
