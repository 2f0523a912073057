/** Checks whether a libSQL server can be reached, for `cadre doctor`. */
import { CadreError } from '../../../src/contract/errors.ts'
import { type ServerAddress, ServerConnection } from './server-connection.ts'

/** Changes nothing on the server. Returns what is wrong, or the latency of a query. */
export async function pingServer(address: ServerAddress): Promise<CadreError | { location: string; latency_ms: number }> {
  const connection = new ServerConnection(address)
  try {
    await connection.read('SELECT 1', [])
    const startedAt = performance.now()
    await connection.read('SELECT 1', [])
    return { location: address.url, latency_ms: Math.round((performance.now() - startedAt) * 10) / 10 }
  } catch (error) {
    if (error instanceof CadreError) return error
    throw error
  } finally {
    await connection.close()
  }
}
