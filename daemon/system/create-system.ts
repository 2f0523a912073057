/** Creates the system family: health, status, settings and the OpenAPI document. */
import { createOpenapiDocument } from '../../src/contract/openapi.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import { bindSystemRoutes } from './routes.ts'
import { type SystemDependencies, SystemService } from './service.ts'

interface SystemFamilyDependencies extends Omit<SystemDependencies, 'startedAt' | 'getQueues'> {
  embedding: EmbeddingService
  /** Returns the number of replies that are being written. */
  countReplies(): number
}

export function createSystem(dependencies: SystemFamilyDependencies) {
  const { version, embedding, countReplies } = dependencies
  const getQueues = () => ({ embedding: embedding.getStatus().pending, replies: countReplies() })
  const service = new SystemService({ ...dependencies, startedAt: new Date(), getQueues })
  let openapi: object | undefined
  /** The document is created at the first request. */
  const getOpenapi = () => (openapi ??= createOpenapiDocument(version))
  return { service, getOpenapi, bindings: bindSystemRoutes(service, getOpenapi) }
}
