/** Reads the socket queues of the kernel: how many bytes of a connection the other end has not read yet. */
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The connection tables of Linux, which include the queue sizes. */
const TCP_TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
/** Local endpoint, remote endpoint, send queue and receive queue of connections with a non-empty queue. */
const ENDPOINT = '([0-9A-F]{8}(?:[0-9A-F]{24})?:[0-9A-F]{4})'
const CONNECTION_PATTERN = new RegExp(`^ *\\d+: ${ENDPOINT} ${ENDPOINT} [0-9A-F]{2} (?!0{8}:0{8})([0-9A-F]{8}):([0-9A-F]{8}) `, 'gm')

export class SocketQueues {
  #pending: Promise<ReadonlyMap<string, number> | undefined> | undefined

  /** Returns undefined if the system does not provide it. Concurrent calls share one read. */
  async getUnreadBytes({ localAddress, localPort, remoteAddress, remotePort }: Socket): Promise<number | undefined> {
    this.#pending ??= readQueues().finally(() => {
      this.#pending = undefined
    })
    const queues = await this.#pending
    return queues && (queues.get(formatPath(formatEndpoint(localAddress, localPort), formatEndpoint(remoteAddress, remotePort))) ?? 0)
  }
}

/** Unread bytes by direction. The table also lists the receive queue of a client on the same machine. */
async function readQueues(): Promise<ReadonlyMap<string, number> | undefined> {
  const tables = await Promise.all(TCP_TABLES.map((path) => readFile(path, 'latin1').catch(() => undefined))) // not Linux
  if (tables[0] === undefined) return undefined
  const queues = new Map<string, number>()
  const add = (key: string, queue: string) => queues.set(key, (queues.get(key) ?? 0) + Number.parseInt(queue, 16))
  for (const table of tables) {
    for (const [, near = '', far = '', leaving = '', arrived = ''] of table?.matchAll(CONNECTION_PATTERN) ?? []) {
      const [here, there] = [parseEndpoint(near), parseEndpoint(far)]
      add(formatPath(here, there), leaving)
      add(formatPath(there, here), arrived)
    }
  }
  return queues
}

const formatPath = (from: string, to: string): string => `${from} ${to}`

/** Formats an endpoint of a socket, with IPv4-mapped addresses as IPv4. */
const formatEndpoint = (address = '', port = 0): string => `${address.replace(/^::ffff:(?=[\d.]+$)|%.*$/g, '')} ${port}`

/** Converts an endpoint of the table: groups of four bytes in little-endian order. */
function parseEndpoint(listed: string): string {
  const [address = '', port = ''] = listed.split(':')
  const parsed = ipaddr.fromByteArray([...Buffer.from(address, 'hex').swap32()])
  const four = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed
  return formatEndpoint(four instanceof ipaddr.IPv6 ? four.toRFC5952String() : four.toString(), Number.parseInt(port, 16))
}
