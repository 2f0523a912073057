/** The daemon as a process of its own, as users run it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const TOKEN = 'cadre_token-of-the-daemon-under-test-0123456789'

const BUILT = fileURLToPath(new URL('../../dist/daemon/main.js', import.meta.url))
const SOURCE = fileURLToPath(new URL('../../daemon/main.ts', import.meta.url))

export interface Running {
  url: string
  /** Milliseconds from the spawn to the line that says it is ready. */
  readyMs: number
  /** As the power cut does it. */
  kill(): Promise<void>
  /** As a user does it. */
  stop(): Promise<number | null>
}

/** What the runner has built, else the source. */
export function spawnDaemon(home: string, environment: Record<string, string> = {}): ChildProcess {
  const program = existsSync(BUILT) ? [BUILT] : ['--import', import.meta.resolve('tsx'), SOURCE]
  return spawn(process.execPath, [...program, '--port', '0'], {
    env: {
      ...process.env,
      CADRE_HOME: home,
      CADRE_TOKEN: TOKEN,
      CADRE_RATE_LIMIT: '0',
      CADRE_KEYCHAIN: 'off',
      CADRE_MODEL_SERVERS: 'none',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

export async function startDaemon(home: string, environment: Record<string, string> = {}): Promise<Running> {
  const begun = performance.now()
  const child = spawnDaemon(home, environment)
  const url = await ready(child)
  const readyMs = performance.now() - begun
  const ended = once(child, 'exit')
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await ended
  }
  return {
    url,
    readyMs,
    kill: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGTERM')
      return child.exitCode
    },
  }
}

async function ready(child: ChildProcess): Promise<string> {
  let [said, complained] = ['', '']
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      complained += part
    })
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      said += part
      const [, url] = /ready at (http:\S+)/.exec(said) ?? []
      if (url) resolve(url)
    })
    child.once('exit', (code, signal) => reject(new Error(`the daemon ended (${code ?? signal}) before it was ready: ${complained}`)))
    child.once('error', reject)
  })
}
