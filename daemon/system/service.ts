/** The service itself: whether it is well, how it stands, and its settings. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Static } from 'typebox'
import type { Paths } from '../../src/config.ts'
import { DEFAULT_EMBEDDING_MODEL } from '../../src/contract/passages.ts'
import type { Health, Settings, Status } from '../../src/contract/system.ts'
import type { Change } from '../core/caller.ts'
import { requireSeen } from '../core/etag.ts'
import type { ModelsService } from '../models/service.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import type { Vectors } from '../store/vectors.ts'
import { readCounts, readSettings, writeSettings } from './store.ts'

const PATIENCE_MS = 3_000

export interface Surroundings {
  paths: Paths
  version: string
  startedAt: Date
  database: Database
  vectors: Vectors
  vault: Vault
  models: ModelsService
  address(): string
  /** How much of each kind of work waits. */
  queues(): Record<string, number>
}

export class SystemService {
  readonly #around: Surroundings

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** Reads both stores; a store that hangs counts as gone. */
  async health(): Promise<Static<typeof Health>> {
    const { database, vectors, version } = this.#around
    const [records, passages] = await Promise.all([answers(readCounts(database)), answers(vectors.ping())])
    return {
      status: records && passages ? 'healthy' : 'unhealthy',
      version,
      database: connection(records),
      vector_db: connection(passages),
    }
  }

  async status(): Promise<Static<typeof Status>> {
    const { paths, version, startedAt, database, vault, address } = this.#around
    const { rss, heapUsed } = process.memoryUsage()
    const [records, log, vectors, documents, logs] = await Promise.all([
      sizeOf(paths.database),
      sizeOf(`${paths.database}-wal`),
      sizeOf(paths.vectors),
      sizeOf(paths.documents),
      sizeOf(paths.logs),
    ])
    return {
      version,
      uptime_seconds: (Date.now() - startedAt.getTime()) / 1000,
      started_at: startedAt.toISOString(),
      pid: process.pid,
      home: paths.home,
      address: address(),
      counts: await readCounts(database),
      sizes: { database: records + log, vectors, documents, logs },
      queues: this.#around.queues(),
      embedding_model: DEFAULT_EMBEDDING_MODEL,
      secrets: vault.location,
      memory: { rss, heap_used: heapUsed },
    }
  }

  async settings(reader: Reader = this.#around.database): Promise<Static<typeof Settings>> {
    return readSettings(reader)
  }

  async changeSettings(change: Change, input: Partial<Static<typeof Settings>>): Promise<Static<typeof Settings>> {
    return this.#around.database.write(async (transaction) => {
      requireSeen('setting', change.ifMatch, await readSettings(transaction))
      const next = await this.changeSettingsWithin(transaction, input)
      await change.remember?.(transaction, next)
      return next
    })
  }

  /** Changes them as part of a larger change. */
  async changeSettingsWithin(
    transaction: Transaction,
    { default_model_id, ...given }: Partial<Static<typeof Settings>>,
  ): Promise<Static<typeof Settings>> {
    const model = default_model_id && {
      default_model_id: await this.#around.models.resolve(transaction, default_model_id, 'default_model_id'),
    }
    const next = { ...(await readSettings(transaction)), ...given, ...model }
    await writeSettings(transaction, next)
    return next
  }
}

const connection = (well: boolean) => (well ? ('connected' as const) : ('disconnected' as const))

async function answers(question: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, false)
  })
  const answered = question.then(
    () => true,
    () => false,
  )
  return Promise.race([answered, tooLate]).finally(() => clearTimeout(timer))
}

/** Bytes of a file or of everything below a folder; what vanishes meanwhile counts nothing. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) return found?.size ?? 0
  const names = await readdir(path).catch(() => [])
  const sizes = await Promise.all(names.map((name) => sizeOf(join(path, name))))
  return sizes.reduce((sum, size) => sum + size, 0)
}
