/** Creates the system family: health, status, settings, the OpenAPI document and backups. */
import { createOpenapiDocument } from '../../src/contract/openapi.ts'
import { createRecurringTask } from '../async/recurring-task.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { Shared } from '../shared-services.ts'
import type { OriginalStore } from '../store/original-store.ts'
import { BackupService } from './backup/service.ts'
import { bindSystemRoutes } from './routes.ts'
import { type SystemDependencies, SystemService } from './service.ts'

const BACKUP_CHECK_INTERVAL_MS = 3_600_000

interface SystemFamilyDependencies extends Omit<SystemDependencies, 'startedAt' | 'getQueues'>, Shared<'clock' | 'logger' | 'telemetry'> {
  embedding: EmbeddingService
  /** Returns the number of replies that are being written. */
  countReplies(): number
  originals: OriginalStore
}

export function createSystem(dependencies: SystemFamilyDependencies) {
  const { version, database, originals, embedding, countReplies, clock, logger, telemetry } = dependencies
  const getQueues = () => ({ embedding: embedding.getStatus().pending, replies: countReplies() })
  telemetry.addQueue('embedding', () => getQueues().embedding)
  telemetry.addQueue('replies', countReplies)
  const service = new SystemService({ ...dependencies, startedAt: new Date(), getQueues })
  let openapi: object | undefined
  /** The document is created at the first request. */
  const getOpenapi = () => (openapi ??= createOpenapiDocument(version))
  const backups = new BackupService(dependencies)
  const backUp = async (signal: AbortSignal) => {
    const { daily_backups } = await service.getSettings()
    const day = new Date(clock.now()).toISOString().slice(0, 10)
    // What is on servers is not in a backup of the home.
    if (daily_backups > 0 && !database.isRemote && !originals.isRemote) await backups.createDaily(day, daily_backups, signal)
  }
  const daily = createRecurringTask(clock, BACKUP_CHECK_INTERVAL_MS, (signal) =>
    backUp(signal).catch((error: unknown) => logger.error({ err: error }, 'the daily backup could not be written')),
  )
  return {
    service,
    getOpenapi,
    bindings: bindSystemRoutes({ system: service, backups, getOpenapi, formatMetrics: () => telemetry.formatMetrics() }),
    start: () => daily.start(),
    async close() {
      await Promise.all([backups.close(), daily.close()])
    },
  }
}
