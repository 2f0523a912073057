import { memoryRoutes } from '../../src/contract/families/memory/memories.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { MemoriesService } from './service.ts'

export const bindMemoryRoutes = (memories: MemoriesService): Binding[] => [
  ...bindCrud(memoryRoutes, memories),
  bind(memoryRoutes.search, ({ body, change }) => memories.search(change.caller, body)),
  bind(memoryRoutes.clear, ({ query, change }) => memories.clear(change.caller, query)),
]
