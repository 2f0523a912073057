/** How much of what was written to a connection its reader has not taken, as the kernel tells it: a write that went well has only got that far. */
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Linux lists its connections here, with what is still in their queues; other systems do not. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
/** Our end, the other end, what was not yet taken by the other, and what we were sent and did not read. */
const CONNECTION = /^ *\d+: ([0-9A-F]+:[0-9A-F]{4}) ([0-9A-F]+:[0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):([0-9A-F]{8}) /gm
/** What stands before an IPv4 address that is written as IPv6, as the kernel prints it. */
const MAPPED = /^0{16}FFFF0000/

export class Unread {
  #looking: Promise<ReadonlyMap<string, number> | undefined> | undefined

  /** In bytes; undefined where nobody knows. Those who ask at the same time are answered by one look. */
  async of(socket: Socket): Promise<number | undefined> {
    this.#looking ??= look().finally(() => {
      this.#looking = undefined
    })
    const queues = await this.#looking
    return queues && (queues.get(keyOf(socket)) ?? 0)
  }
}

/** What lies unread on each way, where anything does. A reader on this machine has its own end in the list, with what it was given and left lying. */
async function look(): Promise<ReadonlyMap<string, number> | undefined> {
  const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => undefined))) // elsewhere than on Linux
  if (tables[0] === undefined) return undefined
  const queues = new Map<string, number>()
  const add = (from: string, to: string, queue: string) => {
    const bytes = Number.parseInt(queue, 16)
    const key = way(from, to)
    if (bytes > 0) queues.set(key, (queues.get(key) ?? 0) + bytes)
  }
  for (const table of tables) {
    for (const [, near = '', far = '', leaving = '', arrived = ''] of table?.matchAll(CONNECTION) ?? []) {
      add(near, far, leaving)
      add(far, near, arrived)
    }
  }
  return queues
}

function keyOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return way(printed(localAddress, localPort), printed(remoteAddress, remotePort))
}

const way = (from: string, to: string): string => `${from.replace(MAPPED, '')} ${to.replace(MAPPED, '')}`

/** As the kernel prints it: four bytes at a time, the last one first. */
function printed(address = '', port = 0): string {
  if (!ipaddr.isValid(address)) return ''
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray())
  return `${bytes.swap32().toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}
