/** A TCP proxy that breaks the connection at a COMMIT, for HTTP, whose requests are not masked. */
import { connect, createServer, type Server } from 'node:net'

export class BreakableProxy {
  /** What happens at the next COMMIT: the request does not arrive, or only its response is lost. */
  breakAt: 'request' | 'response' | undefined
  broken = 0
  readonly #server: Server

  private constructor(target: number) {
    this.#server = createServer((client) => {
      const server = connect(target, '127.0.0.1')
      const destroy = () => {
        client.destroy()
        server.destroy()
      }
      let losesResponse = false
      client.on('error', destroy).on('close', destroy)
      server.on('error', destroy).on('close', destroy)
      client.on('data', (part) => {
        if (this.breakAt && part.includes('COMMIT')) {
          losesResponse = this.breakAt === 'response'
          this.breakAt = undefined
          this.broken++
          if (!losesResponse) return destroy()
        }
        server.write(part)
      })
      server.on('data', (part) => (losesResponse ? destroy() : client.write(part)))
    })
  }

  static async start(target: number): Promise<BreakableProxy> {
    const proxy = new BreakableProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await new Promise((resolve) => proxy.#server.once('listening', resolve))
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`
  }

  close(): void {
    this.#server.close()
  }
}
