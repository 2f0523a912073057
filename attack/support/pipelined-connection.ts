/** Sends requests over one connection and keeps several open, with little work for each: the client shares the cores with the daemon. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const PIPELINED = 8
const HEADER_END = Buffer.from('\r\n\r\n')

export interface PreparedRequest {
  /** Method and path. */
  name: string
  bytes: Buffer
}

/** Sends what `next` returns until it is undefined. */
export async function sendPipelined(
  url: string,
  next: () => PreparedRequest | undefined,
  onResponse: (request: PreparedRequest, status: number) => void,
): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const open: PreparedRequest[] = []
  const send = (count: number) => {
    const requests = Array.from({ length: count }, next).filter((request) => request !== undefined)
    open.push(...requests)
    if (requests.length > 0) socket.write(Buffer.concat(requests.map(({ bytes }) => bytes)))
  }
  send(PIPELINED)
  for await (const statuses of readStatuses(socket)) {
    for (const status of statuses) onResponse(open.shift() as PreparedRequest, status)
    send(statuses.length)
    if (open.length === 0) return
  }
  throw new Error('The daemon closed a connection.')
}

/** Yields the statuses of the responses that are complete. Leaving the loop closes the connection. */
async function* readStatuses(socket: Socket): AsyncGenerator<number[]> {
  let unread: Buffer = Buffer.alloc(0)
  for await (const part of socket as AsyncIterable<Buffer>) {
    unread = unread.length === 0 ? part : Buffer.concat([unread, part])
    const statuses: number[] = []
    let start = 0
    for (let end = unread.indexOf(HEADER_END); end >= 0; end = unread.indexOf(HEADER_END, start)) {
      const header = unread.toString('latin1', start, end)
      const [, length] = /\r\ncontent-length: (\d+)/i.exec(header) ?? []
      if (length === undefined) throw new Error(`A response has no length: ${header}`)
      const next = end + HEADER_END.length + Number(length)
      if (next > unread.length) break
      statuses.push(Number(header.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)))
      start = next
    }
    unread = unread.subarray(start)
    if (statuses.length > 0) yield statuses
  }
}

export function prepareRequest(method: string, path: string, headers: Readonly<Record<string, string>>, body = ''): PreparedRequest {
  const lines = Object.entries({ host: 'localhost', ...headers, 'content-length': String(Buffer.byteLength(body)) })
  const text = `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
  return { name: `${method} ${path}`, bytes: Buffer.from(text) }
}
