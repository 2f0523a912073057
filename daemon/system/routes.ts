/** Routes of the service itself. */
import { openapiDocument } from '../../src/contract/openapi.ts'
import { systemRoutes } from '../../src/contract/system.ts'
import { version } from '../../src/version.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { SystemService } from './service.ts'

export function systemBindings(system: SystemService): Binding[] {
  const document = openapiDocument(version)
  return [
    bind(
      systemRoutes.health,
      () => system.health(),
      ({ status }) => (status === 'healthy' ? 200 : 503),
    ),
    bind(systemRoutes.status, () => system.status()),
    bind(systemRoutes.openapi, async () => document),
    bind(systemRoutes.settings, () => system.settings()),
    bind(systemRoutes.changeSettings, ({ body, change }) => system.changeSettings(change, body)),
  ]
}
