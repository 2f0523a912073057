/** Binds the routes of usage and thresholds. */
import { usageRoutes, usageThresholdRoutes } from '../../src/contract/families/usage.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { UsageThresholdsService } from './service.ts'
import type { UsageReports } from './usage-reports.ts'

export const bindUsageRoutes = (thresholds: UsageThresholdsService, reports: UsageReports): Binding[] => [
  ...bindCrud(usageThresholdRoutes, thresholds),
  bind(usageRoutes.stats, ({ query }) => reports.getStatistics(query)),
  bind(usageRoutes.costs, ({ query }) => reports.getCosts(query)),
]
