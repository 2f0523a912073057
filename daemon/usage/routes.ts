import { usageRoutes, usageThresholdRoutes } from '../../src/contract/families/usage.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { StatisticsService } from './statistics-service.ts'
import type { UsageThresholdsService } from './threshold-service.ts'

export const bindUsageRoutes = (thresholds: UsageThresholdsService, statistics: StatisticsService): Binding[] => [
  ...bindCrud(usageThresholdRoutes, thresholds),
  bind(usageRoutes.stats, ({ query }) => statistics.getStatistics(query)),
  bind(usageRoutes.costs, ({ query }) => statistics.getCosts(query)),
]
