/** Runs a baseline of a benchmark as a process of its own. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { waitForAddress } from './daemon.ts'

export async function withBareServer<T>(
  file: 'bare-fastify.js' | 'bare-relay.js',
  argument: string,
  work: (url: string) => Promise<T>,
  environment: Record<string, string> = {},
): Promise<T> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), argument], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  try {
    return await work(await waitForAddress(child))
  } finally {
    child.kill()
  }
}
