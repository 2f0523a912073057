import { analyticsRoutes } from '../../src/contract/families/analytics.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { AnalyticsService } from './service.ts'

export const bindAnalyticsRoutes = (analytics: AnalyticsService): Binding[] => [
  bind(analyticsRoutes.conversations, ({ query }) => analytics.getConversationAnalytics(query)),
]
