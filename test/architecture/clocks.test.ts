import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getText, listFiles } from './source-tree.ts'

const test = suite('clocks in tests')
const CLOCKS = /\b(?:performance\.now|Date\.now|process\.(?:hrtime|cpuUsage|resourceUsage)|monitorEventLoopDelay|AbortSignal\.timeout)\b/

/** Test files that read a clock, and why a slow machine does not matter. */
const ALLOWED: Record<string, string> = {
  'test/client/deadline.test.ts': 'compares deadlines with a timeout that counts all time',
  'test/conversations/confirmations.test.ts': 'sets the clock forward by a day',
  'test/conversations/idle-watcher.test.ts': 'the start of a fake clock',
  'test/embedding/minilm.test.ts': 'a signal that aborts at any time',
  'test/embedding/remote-embedders.test.ts': 'a signal that aborts at any time',
  'test/evaluations/scorers.test.ts': 'reads the memory that is used, no time',
  'test/http/idempotency.test.ts': 'a time in the past',
  'test/usage/routes.test.ts': 'a time in the past',
  'test/webhooks/delivery.test.ts': 'a delay has a minimum',
  'test/webhooks/receiver.ts': 'replaced by a fake clock',
}

test('tests do not read clocks: they would fail on a slow machine', () => {
  const readers = listFiles('test').filter(
    (file) => !/^test\/(?:harness\/|architecture\/|run\.ts|slow-machine\.ts)/.test(file) && CLOCKS.test(getText(file)),
  )
  assert.equal(readers.sort(), Object.keys(ALLOWED).sort())
})

test.run()
