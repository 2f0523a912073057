import { EventEmitter, once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FolderMonitor } from '../../../daemon/knowledge/sources/files/folder-monitor.ts'
import { WatchBudget } from '../../../daemon/knowledge/sources/files/watch-budget.ts'
import { ManualClock } from '../../harness/clocks/manual-clock.ts'
import { waitFor } from '../../harness/wait-for.ts'

interface Context {
  root: string
  close: (() => void) | undefined
}
const test = suite<Context>('folder monitor')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-monitor-'))
  for (const folder of ['a', 'b', 'c']) mkdirSync(join(context.root, folder))
})
test.after.each(({ root, close }) => {
  close?.()
  rmSync(root, { recursive: true, force: true })
})

async function startMonitor(context: Context, budget: WatchBudget) {
  const clock = new ManualClock()
  const events = new EventEmitter<{ changed: []; polling: [Error] }>()
  let changes = 0
  const onChange = () => {
    changes++
    events.emit('changed')
  }
  const onPolling = (reason: Error) => events.emit('polling', reason)
  const monitor = new FolderMonitor({ configuration: { path: context.root }, budget, onChange, onPolling, clock })
  context.close = () => monitor.close()
  await monitor.start()
  /** The poller lists the folder at an interval that it knows after it has listed it. */
  const poll = async () => {
    await waitFor(() => clock.scheduled > 0)
    clock.advance(3_600_000)
    await waitFor(() => clock.scheduled > 0 || monitor.state.mode === 'events')
  }
  return { monitor, events, poll, countChanges: () => changes }
}

/** Only Linux needs a watch for each subfolder. */
const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('a folder with more subfolders than may be watched is polled, and its watches are free for others', async (context) => {
  const budget = new WatchBudget(3)
  const { monitor, poll, countChanges } = await startMonitor(context, budget)
  assert.is(monitor.state.mode, 'polling')
  assert.match(monitor.state.reason ?? '', /too many subfolders.*at most 3 folders.*max_user_watches/)
  assert.equal([budget.take(), budget.take(), budget.take(), budget.take()], [true, true, true, false])
  await poll()
  assert.is(countChanges(), 0)
  writeFileSync(join(context.root, 'b', 'new.md'), 'New.')
  await poll()
  assert.is(countChanges(), 1)
  rmSync(join(context.root, 'b', 'new.md'))
  await poll()
  assert.is(countChanges(), 2)
  await poll()
  assert.is(countChanges(), 2)
})

test('a folder that was removed is polled, and watched again when it is back', async (context) => {
  const { monitor, events, poll } = await startMonitor(context, new WatchBudget())
  assert.equal(monitor.state, { mode: 'events', reason: null })
  const polling = once(events, 'polling')
  renameSync(context.root, `${context.root}-away`)
  await polling
  assert.match(monitor.state.reason ?? '', 'was removed')
  await poll()
  assert.is(monitor.state.mode, 'polling')
  const changed = once(events, 'changed')
  renameSync(`${context.root}-away`, context.root)
  await poll()
  await changed
  assert.equal(monitor.state, { mode: 'events', reason: null })
  const again = once(events, 'changed')
  writeFileSync(join(context.root, 'a', 'new.md'), 'New.')
  await again
})

onLinux('a closed monitor gives its watches back', async (context) => {
  const budget = new WatchBudget(4)
  const { monitor } = await startMonitor(context, budget)
  assert.is(budget.take(), false)
  monitor.close()
  assert.is(budget.take(), true)
})

test.run()
