/** How much of what was written to a connection its reader has not taken, as the kernel tells it: a write that went well has only got that far. */
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Linux lists its connections here, with what is still in their queues; other systems do not. */
const TCP_TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
/** The near end, the far end, what the far one has not taken yet, and what came from it and was not read. Only where there is any of either. */
const CONNECTION_PATTERN =
  /^ *\d+: ([0-9A-F]{8}(?:[0-9A-F]{24})?:[0-9A-F]{4}) ([0-9A-F]{8}(?:[0-9A-F]{24})?:[0-9A-F]{4}) [0-9A-F]{2} (?!0{8}:0{8})([0-9A-F]{8}):([0-9A-F]{8}) /gm

export class SocketQueues {
  #pending: Promise<ReadonlyMap<string, number> | undefined> | undefined

  /** In bytes; undefined where nobody knows. Those who ask at the same time are answered by one look. */
  async getUnreadBytes({ localAddress, localPort, remoteAddress, remotePort }: Socket): Promise<number | undefined> {
    this.#pending ??= readQueues().finally(() => {
      this.#pending = undefined
    })
    const queues = await this.#pending
    return queues && (queues.get(formatPath(formatEndpoint(localAddress, localPort), formatEndpoint(remoteAddress, remotePort))) ?? 0)
  }
}

/** What lies unread on each way. A reader on this machine has its own end in the list, with what it was given and left lying. */
async function readQueues(): Promise<ReadonlyMap<string, number> | undefined> {
  const tables = await Promise.all(TCP_TABLES.map((path) => readFile(path, 'latin1').catch(() => undefined))) // elsewhere than on Linux
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

/** An end as sockets name it; IPv4 in one way, also where the socket is one of IPv6. */
const formatEndpoint = (address = '', port = 0): string => `${address.replace(/^::ffff:(?=[\d.]+$)|%.*$/g, '')} ${port}`

/** The same of what the kernel prints: four bytes at a time, the last one first. */
function parseEndpoint(listed: string): string {
  const [address = '', port = ''] = listed.split(':')
  const parsed = ipaddr.fromByteArray([...Buffer.from(address, 'hex').swap32()])
  const four = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed
  return formatEndpoint(four instanceof ipaddr.IPv6 ? four.toRFC5952String() : four.toString(), Number.parseInt(port, 16))
}
