/** Signs in at an MCP server: opens a browser and receives the redirect on a loopback address. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { call } from '../../../client/call.ts'
import type { Connection } from '../../../client/request.ts'
import { CadreError } from '../../../contract/errors.ts'
import { mcpServerRoutes } from '../../../contract/families/mcp/mcp-servers.ts'
import { startDeadline } from '../../../deadline.ts'
import { openWithSystem } from '../../terminal/open-with-system.ts'
import { sanitizeLine } from '../../terminal/text.ts'

const TIMEOUT_MS = 5 * 60_000
const PAGE = '<!doctype html><meta charset="utf-8"><title>Cadre</title><p>You can close this page and return to the terminal.</p>'

export async function signIn(connection: Connection, id: string): Promise<void> {
  const server = createServer()
  try {
    const port = await listen(server)
    const params = { id }
    const { data } = await call(connection, mcpServerRoutes.authorize, {
      params,
      body: { redirect_uri: `http://127.0.0.1:${port}/callback` },
    })
    if (data.authorization_url === null) return
    const redirect = receiveRedirect(server, data.state)
    connection.notify(`Sign in with this address in a browser on this machine:\n${sanitizeLine(data.authorization_url)}`)
    // The address is printed, so that a missing browser is no error.
    await openWithSystem(data.authorization_url).catch(() => undefined)
    await call(connection, mcpServerRoutes.token, { params, body: { ...(await redirect), state: data.state } })
    connection.notify('Signed in.')
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Ignores requests without the state of this sign-in: other pages in the browser can reach the address too. */
function receiveRedirect(server: Server, state: string): Promise<{ code: string; iss?: string }> {
  return new Promise((resolve, reject) => {
    const deadline = startDeadline(TIMEOUT_MS, () => reject(new CadreError('UNAVAILABLE', 'Nobody signed in within five minutes.')))
    server.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
      if (pathname !== '/callback' || searchParams.get('state') !== state) return void response.writeHead(404).end()
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE)
      deadline.cancel()
      const code = searchParams.get('code')
      const iss = searchParams.get('iss')
      if (code !== null) return resolve({ code, ...(iss === null ? {} : { iss }) })
      const problem = searchParams.get('error_description') ?? searchParams.get('error') ?? 'without a reason'
      reject(new CadreError('PROVIDER_ERROR', `The sign-in was refused: ${sanitizeLine(problem).slice(0, 300)}.`))
    })
  })
}
