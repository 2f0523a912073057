/** A local server that stands in for whatever must not be reached, or for a site; it counts who connects. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface RecordingServer {
  port: number
  origin: string
  connections: number
  requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[]
  listener: RequestListener
  /** The answer reads the body itself. */
  listenerReadsBody?: boolean
  close(): Promise<void>
}

export async function startRecordingServer(
  answer: RequestListener = (_, reply) => reply.end('reached'),
  host = '127.0.0.1',
): Promise<RecordingServer> {
  const sockets = new Set<Socket>()
  const server = createServer((request: IncomingMessage, reply: ServerResponse) => {
    let body = ''
    if (made.listenerReadsBody) {
      made.requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: '' })
      made.listener(request, reply)
      return
    }
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part
    })
    request.on('end', () => {
      made.requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
      made.listener(request, reply)
    })
  })
  server.on('connection', (socket) => {
    made.connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  const made: RecordingServer = {
    port,
    origin: `http://127.0.0.1:${port}`,
    connections: 0,
    requests: [],
    listener: answer,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return made
}
