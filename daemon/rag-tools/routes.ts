import { ragToolRoutes } from '../../src/contract/families/rag-tools.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { RagToolsService } from './service.ts'

export const bindRagToolRoutes = (tools: RagToolsService): Binding[] => [
  ...bindCrud(ragToolRoutes, tools),
  bind(ragToolRoutes.query, ({ params, body, change, signal }) => tools.query(change.caller, params.id, body, signal)),
]
