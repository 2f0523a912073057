import { usageRoutes, usageThresholdRoutes } from '../../src/contract/families/usage.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { UsageThresholdsService } from './threshold-service.ts'
import type { UsageReportService } from './usage-report-service.ts'

export const bindUsageRoutes = (thresholds: UsageThresholdsService, reports: UsageReportService): Binding[] => [
  ...bindCrud(usageThresholdRoutes, thresholds),
  bind(usageRoutes.stats, ({ query }) => reports.getStatistics(query)),
  bind(usageRoutes.costs, ({ query }) => reports.getCosts(query)),
]
