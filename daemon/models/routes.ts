import { modelRoutes } from '../../src/contract/families/models.ts'
import { recordingRoutes } from '../../src/contract/families/recordings.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { DiscoveredModels } from './discovered-models.ts'
import type { RecordingsService } from './replay/recordings-service.ts'
import type { ModelsService } from './service.ts'

export const bindModelRoutes = (models: ModelsService, discovered: DiscoveredModels, recordings: RecordingsService): Binding[] => [
  ...bindCrud(modelRoutes, models),
  bind(modelRoutes.discover, () => discovered.list()),
  bind(modelRoutes.adopt, ({ body, change }) => discovered.adopt(change, body)),
  bind(modelRoutes.test, ({ params, change, signal }) => models.test(change.caller, params.id, signal)),
  bind(recordingRoutes.list, ({ params, query, change }) => recordings.list(change.caller, params.id, query as ListQuery)),
  bind(recordingRoutes.add, ({ params, body, change }) => recordings.add(change.caller, params.id, body.recordings)),
  bind(recordingRoutes.clear, ({ params, change }) => recordings.clear(change.caller, params.id)),
]
