/** Routes of the OpenAI-compatible API. */
import { openaiRoutes } from '../../src/contract/openai/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { EmbeddingsService } from './embedding-service.ts'
import type { ModelDirectory } from './model-directory.ts'
import type { OpenaiService } from './service.ts'

export const bindOpenaiRoutes = (directory: ModelDirectory, openai: OpenaiService, embeddings: EmbeddingsService): Binding[] => [
  bind(openaiRoutes.listModels, ({ change }) => directory.list(change.caller)),
  bind(openaiRoutes.getModel, ({ params, change }) => directory.get(change.caller, params.model)),
  bind(openaiRoutes.createChatCompletion, ({ body, change, conversationId, signal }) =>
    openai.createChatCompletion({ change, conversationId, signal }, body),
  ),
  bind(openaiRoutes.createResponse, ({ body, change, conversationId, signal }) =>
    openai.createResponse({ change, conversationId, signal }, body),
  ),
  bind(openaiRoutes.createEmbeddings, ({ body, change, signal }) => embeddings.create(change.caller, body, signal)),
]
