/** Progress of commands that wait for a slow service, in a real terminal. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { showIfSlow } from '../../../src/client/call.ts'
import type { WaitingStep } from '../../../src/client/request.ts'
import { version } from '../../../src/version.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { hasTmux, openShell, type TmuxTerminal } from '../../harness/tmux-terminal.ts'

const test = suite('slow requests')
const tmuxTest = hasTmux ? test : test.skip
let server: Server
let terminal: Terminal
let shell: TmuxTerminal | undefined
/** Ends the request of `cadre agents show`. */
let respond = () => {}
/** Whether the next request for knowledge sources is over the rate limit. */
let isBusy = true

test.before(
  reportFailure(async () => {
    server = createServer(async ({ url = '' }, response) => {
      const send = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
      if (url.startsWith('/api/health')) return send({ status: 'healthy', version, database: 'connected', vector_db: 'connected' })
      if (url.startsWith('/api/agents/')) {
        respond = () => send({ success: true, data: { id: 'agent_1', name: 'Slow' } })
        return
      }
      if (url.startsWith('/api/knowledge-sources')) {
        const problem = isBusy ? { error: 'Too many requests.', code: 'RATE_LIMITED' } : { error: 'Not here.', code: 'NOT_FOUND' }
        response.writeHead(isBusy ? 429 : 404, isBusy ? { 'retry-after': '1' } : {})
        isBusy = false
        return response.end(JSON.stringify({ success: false, ...problem }))
      }
      await wait(400)
      const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? 1)
      const data = Array.from({ length: 100 }, (_, index) => ({ id: `agent_${page}_${index}`, name: `Agent ${page} ${index}` }))
      return send({ success: true, data, pagination: { page, limit: 100, total: 2_000, pages: 20 } })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    terminal = openTerminal({ CADRE_URL: `http://127.0.0.1:${port}`, CADRE_TOKEN: 'secret' })
    if (hasTmux) shell = openShell(terminal)
  }),
)
test.after(
  reportFailure(async () => {
    shell?.close()
    await terminal.close()
    server.closeAllConnections()
    server.close()
  }),
)

tmuxTest('a request that takes more than two seconds is shown with its time, and removed at its end', async () => {
  shell?.start('cadre agents show agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --json')
  await shell?.waitFor(/Get an agent {2}\d+ s/)
  respond()
  const screen = (await shell?.waitForExit()) ?? ''
  assert.match(screen, 'Slow')
  assert.not.match(screen, 'Get an agent')
})

tmuxTest('reading many pages shows the number of items, the rate and the time left', async () => {
  shell?.start('cadre agents list --all --json | tail -n 1')
  await shell?.waitFor(/Reading [█░]+ +\d+ % {2}[\d,]+\/2,000 items {2}\d+\/s {2}\d+ s left/)
  assert.not.match((await shell?.waitForExit()) ?? '', 'Reading')
})

tmuxTest('a wait for the rate limit is announced even with -q', async () => {
  const screen = (await shell?.run('cadre knowledge sync handbook -q')) ?? ''
  assert.match(screen, /Too many requests\. .*Retrying in 1 s\.\n[\s\S]*Not here\./)
})

test('a short wait is not shown', async () => {
  const steps: (WaitingStep | undefined)[] = []
  assert.is(await showIfSlow({ showProgress: (step) => steps.push(step) }, 'Wait', async () => 7), 7)
  assert.equal(steps, [])
})

test.run()
