/** Routes of usage. */
import { usageThresholdRoutes } from '../../src/contract/usage.ts'
import { bindCrud } from '../crud/routes.ts'
import type { Binding } from '../http/binding.ts'
import type { UsageThresholdsService } from './service.ts'

export const usageBindings = (thresholds: UsageThresholdsService): Binding[] => bindCrud(usageThresholdRoutes, thresholds)
