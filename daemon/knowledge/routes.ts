import { documentRoutes } from '../../src/contract/families/documents.ts'
import { knowledgeSourceRoutes } from '../../src/contract/families/knowledge-sources.ts'
import { recognitionLanguageRoutes } from '../../src/contract/families/recognition/recognition-languages.ts'
import { tableRoutes } from '../../src/contract/families/tables.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { DocumentLookup } from './document-lookup.ts'
import type { DocumentsService } from './document-service.ts'
import type { RecognitionLanguages } from './recognition/recognition-languages.ts'
import type { KnowledgeService } from './service.ts'

interface KnowledgeServices {
  sources: KnowledgeService
  documents: DocumentsService
  lookup: DocumentLookup
  languages: RecognitionLanguages
}

export const bindKnowledgeRoutes = ({ sources, documents, lookup, languages }: KnowledgeServices): Binding[] => [
  ...bindCrud(knowledgeSourceRoutes, sources),
  bind(knowledgeSourceRoutes.sync, ({ params, query, change }) => sources.sync(change.caller, params.id, query)),
  bind(knowledgeSourceRoutes.cancelSync, ({ params, change }) => sources.cancelSync(change.caller, params.id)),
  bind(knowledgeSourceRoutes.syncEvents, ({ params, change }) => sources.streamSyncEvents(change.caller, params.id)),
  bind(tableRoutes.list, ({ params, change }) => sources.listTables(change.caller, params.id)),
  bind(tableRoutes.query, ({ params, body, change, signal }) => sources.queryTables(change.caller, params.id, body, signal)),
  bind(documentRoutes.list, ({ params, query, change }) => documents.list(change.caller, params.id, query as ListQuery)),
  bind(documentRoutes.create, ({ params, body, change }) => documents.add(change, params.id, body)),
  bind(documentRoutes.get, ({ params }) => documents.get(params.id, params.document_id)),
  bind(documentRoutes.remove, ({ params, change }) => documents.remove(change, params.id, params.document_id)),
  bind(documentRoutes.readText, ({ body, signal }) => lookup.readUpload(body, signal)),
  bind(recognitionLanguageRoutes.list, async () => ({ languages: await languages.list() })),
  bind(recognitionLanguageRoutes.add, ({ params, body, signal }) => languages.add(params.language, body, signal)),
  bind(recognitionLanguageRoutes.remove, ({ params }) => languages.remove(params.language)),
]
