/** Routes of RAG tools. */
import { ragToolRoutes } from '../../src/contract/rag-tools.ts'
import { bindCrud } from '../crud/routes.ts'
import type { Binding } from '../http/binding.ts'
import type { RagToolsService } from './service.ts'

export const ragToolBindings = (tools: RagToolsService): Binding[] => bindCrud(ragToolRoutes, tools)
