/** A local proxy that adds a token, for programs that cannot send one. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface AuthorizingProxy {
  url: string
  close(): Promise<void>
}

/** Foreign Host headers are passed on; its own is replaced by that of the target. */
export async function startAuthorizingProxy(target: string, token: string): Promise<AuthorizingProxy> {
  const { hostname, port, host } = new URL(target)
  // Without a timeout of idle connections, none is closed while a client that was stopped sends its next request on it.
  const proxy = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    const own = `:${(proxy.address() as AddressInfo).port}`
    const adapt = (value: string | undefined) => (value?.endsWith(own) ? value.replace(/[^/]*$/, host) : value)
    const headers: Record<string, string | string[] | undefined> = {
      ...incoming.headers,
      host: adapt(incoming.headers.host),
      authorization: `Bearer ${token}`,
    }
    if (incoming.headers.origin !== undefined) headers.origin = adapt(incoming.headers.origin)
    const { method, url: path } = incoming
    const forwarded = request({ hostname, port, method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve())
        proxy.closeAllConnections()
      }),
  }
}
