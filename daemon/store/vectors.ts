/** Vectors and full text in LanceDB, which only this file opens. */
import type { Connection } from '@lancedb/lancedb'

export interface Vectors {
  /** Resolves when the store can be read. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** LanceDB is loaded in the background: the daemon answers before its 150 MB are in memory. */
export function openVectors(uri: string): Vectors {
  const connection: Promise<Connection> = import('@lancedb/lancedb').then(({ connect }) => connect(uri))
  connection.catch(() => undefined) // ping tells; an unheard rejection would end the process
  return {
    async ping() {
      await (await connection).tableNames()
    },
    async close() {
      const open = await connection.catch(() => undefined)
      open?.close()
    },
  }
}
