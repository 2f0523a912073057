/** Opens a URL in the program that the operating system uses for it. */
import { spawn } from 'node:child_process'
import { UsageError } from './errors.ts'

const VIEWERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer.exe' }

/** Does not wait until the program ends. */
export function openWithSystem(url: string): Promise<void> {
  const program = VIEWERS[process.platform] ?? 'xdg-open'
  return new Promise((resolve, reject) => {
    const child = spawn(program, [url], { stdio: 'ignore', detached: true })
    child.once('error', (error) => reject(new UsageError(`${program} cannot be started: ${error.message}.`, `Open it yourself: ${url}`)))
    child.once('spawn', () => {
      child.unref()
      resolve()
    })
  })
}
