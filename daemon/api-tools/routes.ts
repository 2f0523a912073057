import { apiToolRoutes } from '../../src/contract/families/api-tools.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { ApiToolsService } from './service.ts'

export const bindApiToolRoutes = (tools: ApiToolsService): Binding[] => [
  ...bindCrud(apiToolRoutes, tools),
  bind(apiToolRoutes.import, ({ body, change }) => tools.import(change, body)),
  bind(apiToolRoutes.test, ({ params, body, change }) => tools.test(change.caller, params.id, body.arguments ?? {})),
]
