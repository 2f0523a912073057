/** Creates the OpenAI-compatible API: its services and routes. */
import type { AgentsService } from '../agents/service.ts'
import type { CompletionsService } from '../conversations/completion-service.ts'
import type { ConversationsService } from '../conversations/service.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { EmbeddingLedger } from '../knowledge/sync/embedding-ledger.ts'
import type { ModelsService } from '../models/service.ts'
import type { Outbound } from '../outbound/client.ts'
import { EmbeddingsService } from './embeddings-service.ts'
import { createModelDirectory } from './model-directory.ts'
import { createStoredResponses } from './responses/stored-responses.ts'
import { bindOpenaiRoutes } from './routes.ts'
import { OpenaiService } from './service.ts'

interface OpenaiFamilyDependencies {
  agents: AgentsService
  models: ModelsService
  conversations: ConversationsService
  completions: CompletionsService
  embedding: EmbeddingService
  ledger: EmbeddingLedger
  outbound: Outbound
}

export function createOpenai(dependencies: OpenaiFamilyDependencies) {
  const { agents, models, conversations } = dependencies
  const directory = createModelDirectory(agents, models)
  const openai = new OpenaiService({ ...dependencies, directory })
  const embeddings = new EmbeddingsService({ ...dependencies, directory })
  return { bindings: bindOpenaiRoutes({ directory, openai, responses: createStoredResponses(agents, conversations), embeddings }) }
}
