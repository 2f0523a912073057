import { openaiRoutes } from '../../src/contract/openai/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { EmbeddingsService } from './embeddings-service.ts'
import type { ModelDirectory } from './model-directory.ts'
import type { StoredResponses } from './responses/stored-responses.ts'
import type { OpenaiService } from './service.ts'

interface OpenaiServices {
  directory: ModelDirectory
  openai: OpenaiService
  responses: StoredResponses
  embeddings: EmbeddingsService
}

export const bindOpenaiRoutes = ({ directory, openai, responses, embeddings }: OpenaiServices): Binding[] => [
  bind(openaiRoutes.listModels, ({ change }) => directory.list(change.caller)),
  bind(openaiRoutes.getModel, ({ params, change }) => directory.get(change.caller, params.model)),
  bind(openaiRoutes.createChatCompletion, (request) => openai.createChatCompletion(request, request.body)),
  bind(openaiRoutes.createResponse, (request) => openai.createResponse(request, request.body)),
  bind(openaiRoutes.getResponse, ({ params, change }) => responses.get(change.caller, params.response_id)),
  bind(openaiRoutes.deleteResponse, ({ params, change, signal }) => responses.remove(change, params.response_id, signal)),
  bind(openaiRoutes.createEmbeddings, ({ body, change, signal }) => embeddings.create(change.caller, body, signal)),
]
