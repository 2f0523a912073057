/** Runs the daemon's program to copy its stores, because commands do not load them. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { getDaemonEntry } from '../../client/start-daemon.ts'
import { createDaemonEnvironment, EXIT_HOME_IN_USE } from '../../config.ts'
import { CadreError, type ErrorCode } from '../../contract/errors.ts'
import type { ProgressStep } from '../terminal/progress-bar.ts'

type Line = { progress: ProgressStep } | { copied: Copied } | { error: string; hint?: string; code: ErrorCode }

export interface Copied {
  rows: number
  files: number
}

/** Throws the error of the program. Ends it if this process is interrupted, which a later copy continues. */
export async function copyStores(
  root: string,
  { database, storage }: { database: string | undefined; storage: string | undefined },
  report: (progress: ProgressStep) => void,
): Promise<Copied> {
  const { file, nodeOptions } = getDaemonEntry(root)
  const options = [
    ...(database === undefined ? [] : ['--copy-to-database', database]),
    ...(storage === undefined ? [] : ['--copy-to-storage', storage]),
  ]
  const child = spawn(process.execPath, [...nodeOptions, file, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: createDaemonEnvironment(),
  })
  const stderr: Buffer[] = []
  child.stderr.on('data', (part: Buffer) => stderr.push(part))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let copied: Copied | undefined
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line
    if ('progress' in line) report(line.progress)
    else if ('copied' in line) copied = line.copied
    else throw new CadreError(line.code, line.error, { hint: line.hint })
  }
  const code = await ended
  if (copied) return copied
  const message = Buffer.concat(stderr).toString().trim()
  const hint = code === EXIT_HOME_IN_USE ? 'Stop it: cadre daemon stop' : undefined
  throw new CadreError('UNAVAILABLE', message || `The copy ended early (${code}).`, { hint })
}
