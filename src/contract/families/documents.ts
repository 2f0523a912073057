/** Documents of a knowledge source: what was sent or found, and how far its indexing got. */
import { Type } from 'typebox'
import { idParams } from '../crud.ts'
import { route } from '../route.ts'
import { identifier, jsonObject, nullable, object, optional, resource, stringEnum } from '../schemas/fields.ts'
import { listQuery } from '../schemas/list-query.ts'

export const MAX_DOCUMENT_BODY_BYTES = 64 * 1024 * 1024
export const DOCUMENT_STATUSES = ['waiting', 'parsing', 'indexing', 'indexed', 'failed'] as const

const name = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'Name of the document within its source, as a relative path.',
  examples: ['policies/leave.md'],
})
const metadata = jsonObject('Anything you want to filter by later; at most 64 KB as JSON.', { maxProperties: 100 })

export const Document = resource(
  'document',
  {
    knowledge_source_id: identifier('the knowledge source'),
    name,
    type: Type.String({ description: 'File type, from the extension.' }),
    size: Type.Integer({ minimum: 0, description: 'Size of the original, in bytes.' }),
    content_hash: Type.String({ description: 'SHA-256 of the original.' }),
    status: stringEnum(DOCUMENT_STATUSES, { description: 'How far its indexing got.' }),
    error: nullable(Type.String({ description: 'Why it could not be read.' })),
    pages: nullable(Type.Integer({ minimum: 0, description: 'Pages it has, where it has pages.' })),
    chunks: Type.Integer({ minimum: 0, description: 'Passages it was cut into.' }),
    metadata,
  },
  {
    description: 'A document of a knowledge source.',
    examples: [
      {
        id: 'doc_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        knowledge_source_id: 'ks_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        name: 'leave.md',
        type: 'md',
        size: 120,
        content_hash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        status: 'waiting',
        error: null,
        pages: null,
        chunks: 0,
        metadata: {},
        created_at: '2026-01-31T09:30:00.000Z',
        updated_at: '2026-01-31T09:30:00.000Z',
      },
    ],
  },
)

export const DocumentCreate = object(
  {
    name,
    ...optional({
      content: Type.String({ description: 'The text of the document.' }),
      content_base64: Type.String({ description: 'The bytes of the document, in base64.' }),
      metadata,
    }),
  },
  {
    description: 'A document, with either content or content_base64. One of the same name is replaced.',
    examples: [{ name: 'leave.md', content: '# Leave\n\nTwenty-five days a year.' }],
  },
)

const params = object({ id: identifier('the knowledge source'), document_id: identifier('the document') })
const one = { family: 'knowledge-sources', path: '/knowledge-sources/{id}/documents/{document_id}', params, response: Document }
const all = {
  family: 'knowledge-sources',
  path: '/knowledge-sources/{id}/documents',
  params: idParams('knowledge source'),
  response: Document,
}
export const documentRoutes = {
  list: route({
    ...all,
    id: 'documents.list',
    method: 'GET',
    summary: 'List the documents of a knowledge source',
    access: 'read',
    query: listQuery(Document),
    shape: 'page',
  }),
  create: route({
    ...all,
    id: 'documents.create',
    method: 'POST',
    summary: 'Add a document',
    description: 'A document of the same name is replaced.',
    access: 'change',
    body: DocumentCreate,
    status: 201,
    bodyLimit: MAX_DOCUMENT_BODY_BYTES,
  }),
  get: route({ ...one, id: 'documents.get', method: 'GET', summary: 'Get a document', access: 'read' }),
  remove: route({ ...one, id: 'documents.remove', method: 'DELETE', summary: 'Delete a document', access: 'change', shape: 'message' }),
}
