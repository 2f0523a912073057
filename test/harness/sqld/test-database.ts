/** The database of a test server: a file in its home, or a namespace of the libSQL server that the runner started. */
import { createHash } from 'node:crypto'
import dns, { type LookupAddress } from 'node:dns'
import { type Database, openDatabase } from '../../../daemon/store/database.ts'
import { openServer } from '../../../daemon/store/open-stores.ts'
import type { Paths } from '../../../src/config.ts'

const { CADRE_TEST_DATABASE_PORT: port, CADRE_TEST_DATABASE_ADMIN: admin } = process.env

export const isOnServer = port !== undefined

/** A home keeps its namespace over restarts. */
const getNamespace = ({ home }: Paths) => `home-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`

/** Returns undefined if the records are in the home. */
export async function createTestDatabase(paths: Paths): Promise<{ url: string; token: undefined } | undefined> {
  if (port === undefined) return undefined
  resolveLocalhost()
  const name = getNamespace(paths)
  // It exists already if the home was used before.
  await fetch(`${admin}/v1/namespaces/${name}/create`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
  return { url: `ws://${name}.localhost:${port}`, token: undefined }
}

export async function deleteTestDatabase(paths: Paths): Promise<void> {
  if (port !== undefined) await fetch(`${admin}/v1/namespaces/${getNamespace(paths)}`, { method: 'DELETE' })
}

/** Another connection to the database of a test server. */
export function connectTestDatabase(paths: Paths): Database {
  if (port === undefined) return openDatabase(paths.database)
  const opened = createTestDatabase(paths).then((server) => openServer(server as NonNullable<typeof server>))
  return {
    location: getNamespace(paths),
    isRemote: true,
    daemonId: null,
    get: async (sql, values) => (await opened).get(sql, values),
    all: async (sql, values) => (await opened).all(sql, values),
    write: async (work) => (await opened).write(work),
    writeWithoutFlush: async (work) => (await opened).writeWithoutFlush(work),
    validateIntegrity: () => undefined,
    isDamaged: () => false,
    truncateLog: async () => {},
    close: async () => (await opened).close(),
  }
}

/** The server takes the namespace from the host name. Not every system resolves the names below localhost. */
function resolveLocalhost(): void {
  const original = dns.lookup as (...parameters: unknown[]) => void
  if (original.name === 'lookupLocalhost') return
  dns.lookup = function lookupLocalhost(host: string, ...rest: unknown[]) {
    if (!host.endsWith('.localhost')) return original(host, ...rest)
    const answer = rest.at(-1) as (error: null, address: string | LookupAddress[], family?: number) => void
    const { all } = (typeof rest[0] === 'object' ? rest[0] : {}) as { all?: boolean }
    process.nextTick(() => (all ? answer(null, [{ address: '127.0.0.1', family: 4 }]) : answer(null, '127.0.0.1', 4)))
  } as typeof dns.lookup
}
