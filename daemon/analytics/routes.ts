/** Routes of analytics. */
import { analyticsRoutes } from '../../src/contract/analytics.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { AnalyticsService } from './service.ts'

export const analyticsBindings = (analytics: AnalyticsService): Binding[] => [
  bind(analyticsRoutes.conversations, ({ query }) => analytics.conversations(query)),
]
