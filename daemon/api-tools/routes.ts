/** Routes of API tools. */
import { apiToolRoutes } from '../../src/contract/api-tools.ts'
import { bindCrud } from '../crud/routes.ts'
import type { Binding } from '../http/binding.ts'
import type { ApiToolsService } from './service.ts'

export const apiToolBindings = (tools: ApiToolsService): Binding[] => bindCrud(apiToolRoutes, tools)
