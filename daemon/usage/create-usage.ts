/** Creates the usage family: the meter, thresholds, statistics and routes. */
import type { Logger } from '../logging/logger.ts'
import { bindUsageRoutes } from './routes.ts'
import { type EntityFamilies, UsageThresholdsService } from './threshold-service.ts'
import { UsageMeter, type UsageMeterDependencies } from './usage-meter.ts'
import { createUsageReportService } from './usage-report-service.ts'

interface UsageFamilyDependencies extends UsageMeterDependencies {
  logger: Logger
  /** The families that thresholds can apply to. Called late: these families are created with the meter. */
  getEntityFamilies(): EntityFamilies
}

export function createUsage(dependencies: UsageFamilyDependencies) {
  const { database, now, logger, getEntityFamilies } = dependencies
  const meter = new UsageMeter(dependencies)
  const thresholds = new UsageThresholdsService(database, getEntityFamilies)
  return {
    meter,
    thresholds,
    bindings: bindUsageRoutes(thresholds, createUsageReportService(database, now)),
    /** Settles the calls that the last stop interrupted. */
    async recover() {
      const count = await meter.recover()
      if (count > 0) logger.warn({ calls: count }, 'interrupted model calls were counted by estimate')
    },
  }
}
