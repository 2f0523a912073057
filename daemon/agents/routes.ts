import { agentRoutes } from '../../src/contract/families/agents.ts'
import { bindCrud } from '../crud/routes.ts'
import type { Binding } from '../http/binding.ts'
import type { AgentsService } from './service.ts'

export const bindAgentRoutes = (agents: AgentsService): Binding[] => bindCrud(agentRoutes, agents)
