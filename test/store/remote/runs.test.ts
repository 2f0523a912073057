import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDeferred } from '../../../daemon/async/deferred.ts'
import { waitForEnd } from '../../evaluations/evaluation-fixture.ts'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { Resources } from '../../harness/resources.ts'
import { ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'
import { isSqldInstalled, Sqld } from '../../harness/sqld/start-sqld.ts'
import { TestServer } from '../../harness/test-server.ts'

const test = suite('evaluation runs with records on a server')
const check = isSqldInstalled() ? test : test.skip

let sqld: Sqld
let server: TestServer
let provider: ScriptedProvider

if (isSqldInstalled()) {
  test.before(
    reportFailure(async () => {
      sqld = await Sqld.start()
      server = await TestServer.start({ databaseServer: { url: sqld.url, token: undefined } })
      provider = await ScriptedProvider.start('openai', streamText('yes'))
    }),
  )
  test.after(
    reportFailure(async () => {
      await Promise.all([server.close(), provider.close()])
      sqld.remove()
    }),
  )
}

check('a run continues after an outage, and no test case fails because of it', async () => {
  const resources = new Resources(server)
  const model = await resources.model(provider.model)
  const agent = await resources.agent({ model_id: model.id })
  const test_cases = ['a', 'b', 'c', 'd'].map((input) => ({ input, expected_output: 'yes' }))
  const evaluation = await resources.evaluation({ target_id: agent.id, test_cases, concurrency: 1 })
  const restarted = createDeferred<void>()
  provider.script = [
    async (...call) => {
      await sqld.kill()
      await streamText('yes')(...call)
      await pause(500) // the next test case begins
      await sqld.startAgain()
      restarted.resolve()
    },
    streamText('yes'),
  ]
  const { run_id } = await expectData(server.post(`/evaluations/${evaluation.id}/run`))
  await restarted.promise
  const { status, summary } = await waitForEnd(server, evaluation.id, run_id)
  assert.equal([status, summary.total, summary.passed, summary.errors], ['completed', 4, 4, 0])
})

test.run()
