/** Routes of the service itself. */
import { systemRoutes } from '../../src/contract/system.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { SystemService } from './service.ts'

export function systemBindings(system: SystemService, description: object): Binding[] {
  return [
    bind(systemRoutes.health, () => system.health(), { statusOf: ({ status }) => (status === 'healthy' ? 200 : 503) }),
    bind(systemRoutes.status, () => system.status()),
    bind(systemRoutes.openapi, async () => description),
    bind(systemRoutes.settings, () => system.settings()),
    bind(systemRoutes.changeSettings, ({ body, change }) => system.changeSettings(change, body)),
  ]
}
