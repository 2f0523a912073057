/** What most families depend on. Each names the parts that it uses. */
import type { Clock } from './async/clock.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { EventBus } from './core/event-bus.ts'
import type { Logger } from './logging/logger.ts'
import type { Outbound } from './outbound/client.ts'
import type { Vault } from './secrets/vault.ts'
import type { Database } from './store/database.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import type { Validator } from './validation/validator.ts'

interface SharedServices {
  database: Database
  cluster: Cluster
  vault: Vault
  validator: Validator
  outbound: Outbound
  events: EventBus
  clock: Clock
  logger: Logger
  telemetry: Telemetry
}

export type Shared<Name extends keyof SharedServices> = Pick<SharedServices, Name>
