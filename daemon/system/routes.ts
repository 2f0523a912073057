/** Routes of the service itself. */
import { systemRoutes } from '../../src/contract/families/system.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { SystemService } from './service.ts'

export function bindSystemRoutes(system: SystemService, description: object): Binding[] {
  return [
    bind(systemRoutes.health, () => system.getHealth(), { getStatus: ({ status }) => (status === 'healthy' ? 200 : 503) }),
    bind(systemRoutes.status, () => system.status()),
    bind(systemRoutes.openapi, async () => description),
    bind(systemRoutes.getSettings, () => system.getSettings()),
    bind(systemRoutes.updateSettings, ({ body, change }) => system.updateSettings(change, body)),
  ]
}
