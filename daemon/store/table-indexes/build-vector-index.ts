/** Builds a vector index in a process of its own, because LanceDB 0.30 keeps the memory and the temporary files of a build. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDaemonEnvironment } from '../../../src/config.ts'
import { getProcessEntry } from '../../workers/start-worker.ts'
import type { LanceOptions } from '../lance.ts'

export interface BuildTask {
  uri: string
  name: string
  lance: LanceOptions | undefined
  quantizedRows: number
}

const BUILDER = { built: 'dist/daemon/store/index-builder.js', source: new URL('index-builder.ts', import.meta.url) }

/** @param signal ends the process; the table stays as it was */
export async function buildVectorIndex(task: BuildTask, signal: AbortSignal): Promise<void> {
  const temporary = await mkdtemp(join(tmpdir(), 'cadre-index-'))
  try {
    const { file, execArgv } = getProcessEntry(BUILDER)
    const env = { ...createDaemonEnvironment(), TMPDIR: temporary }
    const builder = fork(file, [temporary], {
      execArgv,
      env,
      signal,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    builder.send(task)
    let problem: string | undefined
    builder.on('message', (message) => {
      problem = String(message)
    })
    const [code, killedBy] = await once(builder, 'exit')
    if (code !== 0)
      throw new Error(`The vector index of ${task.name} was not built: ${problem ?? `the process ended with ${killedBy ?? code}`}`)
  } finally {
    await rm(temporary, { recursive: true, force: true, maxRetries: 5 })
  }
}
