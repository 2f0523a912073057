/** A proxy in front of the object store that can be taken away: stopping the store itself takes seconds. */
import { createServer, request as send } from 'node:http'

export class StorageProxy {
  isAway = false
  readonly #server = createServer(async (request, response) => {
    if (this.isAway) return response.destroy()
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { connection: _, 'transfer-encoding': __, ...headers } = request.headers as Record<string, string>
    const target = new URL(request.url as string, this.#target)
    send(target, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode as number, answer.headers)
      answer.pipe(response)
    })
      .once('error', () => response.destroy())
      .end(Buffer.concat(parts))
  })
  readonly #target: string

  private constructor(target: string) {
    this.#target = target
  }

  static async start(target: string): Promise<StorageProxy> {
    const proxy = new StorageProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
