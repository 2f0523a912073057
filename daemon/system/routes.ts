/** Binds the routes of health, status, the OpenAPI document, settings and backups. */
import { backupRoutes } from '../../src/contract/families/backups.ts'
import { systemRoutes } from '../../src/contract/families/system.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { BackupService } from './backup/service.ts'
import type { SystemService } from './service.ts'

interface SystemParts {
  system: SystemService
  backups: BackupService
  getOpenapi: () => object
  formatMetrics: () => Promise<string>
}

export const bindSystemRoutes = ({ system, backups, getOpenapi, formatMetrics }: SystemParts): Binding[] => [
  bind(systemRoutes.health, () => system.getHealth(), { getStatus: ({ status }) => (status === 'healthy' ? 200 : 503) }),
  bind(systemRoutes.live, async ({ query: { challenge } }) => ({ status: 'live' as const, ...system.prove(challenge) })),
  bind(systemRoutes.ready, () => system.getReadiness(), { getStatus: ({ status }) => (status === 'ready' ? 200 : 503) }),
  bind(systemRoutes.status, () => system.getStatus()),
  bind(systemRoutes.metrics, formatMetrics),
  bind(systemRoutes.openapi, async () => getOpenapi()),
  bind(systemRoutes.getSettings, () => system.getSettings()),
  bind(systemRoutes.updateSettings, ({ body, change }) => system.updateSettings(change, body)),
  bind(backupRoutes.create, ({ body, signal }) => backups.create(body, signal)),
]
