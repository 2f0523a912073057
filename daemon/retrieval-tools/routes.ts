import { retrievalToolRoutes } from '../../src/contract/families/retrieval-tools.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { RetrievalToolsService } from './service.ts'

export const bindRetrievalToolRoutes = (tools: RetrievalToolsService): Binding[] => [
  ...bindCrud(retrievalToolRoutes, tools),
  bind(retrievalToolRoutes.search, ({ params, body, change, signal }) => tools.search(change.caller, params.id, body, signal)),
]
