/** Diagnoses the stores for `cadre doctor`: the database or its server, and the storage. */
import { existsSync } from 'node:fs'
import type { Paths } from '../src/config.ts'
import type { CadreError } from '../src/contract/errors.ts'
import { resolveStorage } from './process/storage-address.ts'
import type { ServerAddress } from './store/remote/server-connection.ts'

/** Prints problems of the stores as JSON for `cadre doctor`, which may not load them itself. Nothing is created. */
export async function diagnoseStores(paths: Paths, server: ServerAddress | undefined, storageUrl: string | undefined): Promise<void> {
  const { pingServer } = await import('./store/remote/ping-server.ts')
  const { validateIntegrity } = await import('./store/database.ts')
  const found = server ? await pingServer(server) : existsSync(paths.database) ? validateIntegrity(paths.database) : undefined
  const storage = await checkStorage(paths, storageUrl).catch((error: unknown) => error)
  process.stdout.write(`${JSON.stringify({ ...formatReport(found), storage: storage && formatReport(storage) })}\n`)
}

const formatReport = (found: unknown) =>
  found instanceof Error ? { error: found.message, hint: (found as CadreError).hint } : (found ?? {})

async function checkStorage(paths: Paths, url: string | undefined) {
  const storage = resolveStorage(paths, url)
  if (!storage) return undefined
  const { S3Client } = await import('./store/objects/s3-client.ts')
  const client = new S3Client(storage)
  return { location: client.location, latency_ms: await client.measureLatency() }
}
