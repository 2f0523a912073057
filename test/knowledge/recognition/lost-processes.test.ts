import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RecognitionPool } from '../../../daemon/knowledge/recognition/recognition-pool.ts'
import type { RecognitionTask, RecognizedPage } from '../../../daemon/knowledge/recognition/recognized-page.ts'
import type { WorkerHandle } from '../../../daemon/workers/start-worker.ts'
import type { PoolMessage, WorkerMessage } from '../../../daemon/workers/worker-protocol.ts'

const test = suite('recognition: lost processes')

/** When a process is killed, as by its memory limit: during a page, or when it has handed it over. */
type Kill = { during: number } | { after: number }

/** Recognises pages until it is killed. */
function startScriptedProcess(kill: Kill | undefined): WorkerHandle {
  let pages: number[] = []
  let id = 0
  let receive = (_: WorkerMessage<undefined, RecognizedPage>) => {}
  let exit = () => {}
  const continueJob = () => {
    const page = pages.shift()
    if (page === undefined) return receive({ kind: 'result', id, result: undefined })
    if (kill && 'during' in kill && kill.during === page) return exit()
    receive({ kind: 'part', id, part: { page, text: `Page ${page}`, confidence: 90 } })
    if (kill && 'after' in kill && kill.after === page) exit()
  }
  return {
    memoryMb: 544,
    send(message) {
      const received = message as PoolMessage<RecognitionTask>
      if (received.kind === 'job') {
        id = received.id
        pages = [...received.task.pages]
      }
      setImmediate(continueJob)
    },
    listen(onMessage, onExit) {
      receive = onMessage
      exit = () => onExit('it exited with SIGKILL', true)
      setImmediate(receive, { kind: 'ready' })
    },
    setReferenced() {},
    end: () => Promise.resolve(),
  }
}

/** Recognises pages with processes that are killed one after another. */
async function recognize(pages: readonly number[], kills: Kill[], store = async () => {}) {
  let startCount = 0
  const pool = new RecognitionPool({ debug() {}, warn() {} }, () => startScriptedProcess(kills[startCount++]))
  const results: string[] = []
  const onPage = async ({ text, problem }: RecognizedPage) => {
    await store()
    results.push(problem ?? text)
  }
  try {
    await pool.recognize({ content: new Uint8Array(), pages, languages: [] }, onPage, { signal: new AbortController().signal })
  } finally {
    await pool.close()
  }
  return { results, startCount }
}

const TOO_LARGE = 'Text recognition needed more memory than 544 MB.'

test('a process that is killed when it has handed over the last page has recognised the document', async () => {
  const store = () => new Promise<void>((resolve) => setImmediate(resolve))
  assert.equal((await recognize([1], [{ after: 1 }], store)).results, ['Page 1'])
  assert.equal((await recognize([1, 2], [{ after: 2 }], store)).results, ['Page 1', 'Page 2'])
})

test('a page that cannot be stored fails the document also if its process is killed', async () => {
  let error: unknown
  await recognize([1], [{ after: 1 }], () => Promise.reject(new Error('disk full'))).catch((reason) => (error = reason))
  assert.is((error as Error).message, 'disk full')
})

test('a page during which the process is killed is tried again in another one, because the page before may be the cause', async () => {
  const { results, startCount } = await recognize([1, 2, 3], [{ during: 2 }])
  assert.equal([results, startCount], [['Page 1', 'Page 2', 'Page 3'], 2])
})

test('a page that is the first of its process has the problem, and the others are recognised', async () => {
  assert.equal((await recognize([1, 2, 3], [{ during: 2 }, { during: 2 }])).results, ['Page 1', TOO_LARGE, 'Page 3'])
  assert.equal((await recognize([1, 2], [{ during: 1 }])).results, [TOO_LARGE, 'Page 2'])
})

test.run()
