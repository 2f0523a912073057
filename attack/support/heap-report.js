/** Preloaded into the daemon: writes its memory after a garbage collection to a file on request. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const path = process.env.ATTACK_HEAP_REPORT
if (path && isMainThread) {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc')
  setInterval(() => {
    if (!existsSync(`${path}.ask`)) return
    collectGarbage()
    collectGarbage()
    const { heapUsed, external, rss } = process.memoryUsage()
    writeFileSync(path, JSON.stringify({ heapUsed, external, rss }))
    rmSync(`${path}.ask`)
  }, 50).unref()
}
