/** A local HTTP server that records its connections and requests. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface RecordingServer {
  port: number
  origin: string
  connections: number
  requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[]
  listener: RequestListener
  /** The listener reads the request body itself. */
  listenerReadsBody?: boolean
  close(): Promise<void>
}

export async function startRecordingServer(
  listener: RequestListener = (_, response) => response.end('reached'),
  host = '127.0.0.1',
): Promise<RecordingServer> {
  const sockets = new Set<Socket>()
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    if (recorder.listenerReadsBody) {
      recorder.requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: '' })
      recorder.listener(request, response)
      return
    }
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part
    })
    request.on('end', () => {
      recorder.requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
      recorder.listener(request, response)
    })
  })
  server.on('connection', (socket) => {
    recorder.connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  const recorder: RecordingServer = {
    port,
    origin: `http://127.0.0.1:${port}`,
    connections: 0,
    requests: [],
    listener,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return recorder
}
