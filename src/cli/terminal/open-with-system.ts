/** Opens a URL in the program that the operating system uses for it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { UsageError } from './failures/command-errors.ts'

const VIEWERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer.exe' }

/** Does not wait until the program ends. */
export async function openWithSystem(url: string): Promise<void> {
  const program = VIEWERS[process.platform] ?? 'xdg-open'
  const child = spawn(program, [url], { stdio: 'ignore', detached: true })
  await once(child, 'spawn').catch((error: Error) => {
    throw new UsageError(`${program} cannot be started: ${error.message}.`, `Open it yourself: ${url}`)
  })
  child.unref()
}
