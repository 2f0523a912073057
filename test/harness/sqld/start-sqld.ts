/** A libSQL server for tests: `CADRE_TEST_DATABASE=sqld npm test -- test/families` stores the records of test servers on it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startDeadline } from '../../../src/deadline.ts'

const PACKAGE = `@sqld/${process.platform}-${process.arch}`
export const SQLD_PROGRAM = fileURLToPath(new URL(`../../../.packages/node_modules/${PACKAGE}/sqld`, import.meta.url))

/** It is too large for the development dependencies. */
export const isSqldInstalled = (): boolean => existsSync(SQLD_PROGRAM)

export class Sqld {
  readonly #folder = mkdtempSync(join(tmpdir(), 'cadre-sqld-'))
  readonly #port: number
  readonly #adminPort: number
  #child: ChildProcess | undefined
  readonly #hasNamespaces: boolean

  private constructor(port: number, adminPort: number, hasNamespaces: boolean) {
    this.#hasNamespaces = hasNamespaces
    this.#port = port
    this.#adminPort = adminPort
  }

  /** With namespaces, it contains many databases, but none without a name. */
  static async start({ hasNamespaces = false } = {}): Promise<Sqld> {
    if (!isSqldInstalled())
      throw new Error(`sqld is not installed: npm install --prefix .packages --ignore-scripts ${PACKAGE}@0.24.1-pre.42, and chmod +x it`)
    const sqld = new Sqld(await findFreePort(), await findFreePort(), hasNamespaces)
    await sqld.startAgain()
    return sqld
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#port}`
  }

  /** Variables for test processes. Each test server gets a namespace, which is a database of its own. */
  get environment(): Record<string, string> {
    return { CADRE_TEST_DATABASE_PORT: String(this.#port), CADRE_TEST_DATABASE_ADMIN: `http://127.0.0.1:${this.#adminPort}` }
  }

  /** Keeps the data and the port. */
  async startAgain(): Promise<void> {
    const addresses = ['--http-listen-addr', `127.0.0.1:${this.#port}`, '--admin-listen-addr', `127.0.0.1:${this.#adminPort}`]
    const limits = ['--max-active-namespaces', '1000', '--max-concurrent-connections', '2000', '--max-concurrent-requests', '2000']
    const options = ['-d', this.#folder, ...addresses, '--no-welcome', ...limits, ...(this.#hasNamespaces ? ['--enable-namespaces'] : [])]
    this.#child = spawn(SQLD_PROGRAM, options, { stdio: 'ignore' })
    for (const deadline = startDeadline(600_000).unref(); !deadline.hasPassed && this.#child.exitCode === null; ) {
      if (await isHealthy(this.#port)) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error('sqld did not start')
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** Synchronous, for the end of the process. */
  remove(): void {
    this.#child?.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

const isHealthy = (port: number) =>
  fetch(`http://127.0.0.1:${port}/health`).then(
    ({ ok }) => ok,
    () => false,
  )

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
