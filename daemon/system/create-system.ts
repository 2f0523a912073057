/** Creates the system family: health, status, settings, the OpenAPI document and backups. */
import { createOpenapiDocument } from '../../src/contract/openapi.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { Shared } from '../shared-services.ts'
import type { OriginalStore } from '../store/original-store.ts'
import { createBackup } from './backup/create-backup.ts'
import { bindSystemRoutes } from './routes.ts'
import { type SystemDependencies, SystemService } from './service.ts'

interface SystemFamilyDependencies extends Omit<SystemDependencies, 'startedAt' | 'getQueues'>, Shared<'clock' | 'logger' | 'telemetry'> {
  embedding: EmbeddingService
  /** Returns the number of replies that are being written. */
  countReplies(): number
  originals: OriginalStore
}

export function createSystem(dependencies: SystemFamilyDependencies) {
  const { version, embedding, countReplies, telemetry } = dependencies
  const getQueues = () => ({ embedding: embedding.getStatus().pending, replies: countReplies() })
  telemetry.addQueue('embedding', () => getQueues().embedding)
  telemetry.addQueue('replies', countReplies)
  const service = new SystemService({ ...dependencies, startedAt: new Date(), getQueues })
  let openapi: object | undefined
  /** The document is created at the first request. */
  const getOpenapi = () => (openapi ??= createOpenapiDocument(version))
  /** What is on servers is not in a backup of the home. */
  const isRemote = dependencies.database.isRemote || dependencies.originals.isRemote
  const getDailyBackups = async () => (isRemote ? 0 : (await service.getSettings()).daily_backups)
  const backup = createBackup({ ...dependencies, getDailyBackups })
  return {
    service,
    getOpenapi,
    bindings: [...bindSystemRoutes(service, getOpenapi, () => telemetry.formatMetrics()), ...backup.bindings],
    start: backup.start,
    close: backup.close,
  }
}
