/** Answers probes while the daemon starts, which can take long if the database is migrated. Every other request gets 503. */
import { createServer } from 'node:http'
import type { ErrorBody } from '../../src/contract/errors.ts'

const LIVE_PATH = /^\/api(\/v1)?\/health\/live\/?(\?|$)/

interface StartupServer {
  /** Frees the port. */
  close(): Promise<void>
}

export async function startStartupServer(host: string, port: number): Promise<StartupServer> {
  const server = createServer((request, response) => {
    const isLive = request.method === 'GET' && LIVE_PATH.test(request.url ?? '')
    const id = `req_${crypto.randomUUID()}`
    response.writeHead(isLive ? 200 : 503, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': id,
      connection: 'close',
      ...(isLive ? {} : { 'retry-after': '1' }),
    })
    response.end(JSON.stringify(isLive ? { status: 'live' } : createStartingError(id)))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const createStartingError = (request_id: string): ErrorBody => ({
  success: false,
  error: 'The daemon is starting.',
  code: 'UNAVAILABLE',
  hint: 'Try again in a moment.',
  request_id,
})
