/** Documents of a knowledge source. */
import { Type } from 'typebox'
import { idParams } from '../crud.ts'
import { route } from '../route.ts'
import {
  count,
  createExample,
  flag,
  identifier,
  jsonObject,
  namedObject,
  nullable,
  object,
  optional,
  resource,
  stringEnum,
} from '../schemas/fields.ts'
import { listQuery } from '../schemas/list-query.ts'

export const MAX_DOCUMENT_BODY_BYTES = 64 * 1024 * 1024
export const DOCUMENT_STATUSES = ['waiting', 'parsing', 'recognizing', 'indexing', 'indexed', 'failed', 'skipped'] as const

const name = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'Name of the document in its source, as a relative path.',
  examples: ['policies/leave.md'],
})
const metadata = jsonObject('Custom fields to filter by, up to 64 KB of JSON.', { maxProperties: 100 })

const example = {
  knowledge_source_id: 'ks_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  name: 'leave.md',
  type: 'md',
  size: 120,
  content_hash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  status: 'waiting',
}

const fields = {
  knowledge_source_id: identifier('the knowledge source'),
  name,
  type: Type.String({ description: 'File type, derived from the extension.' }),
  size: count('Size of the original, in bytes.'),
  content_hash: Type.String({ description: 'SHA-256 hash of the original.' }),
  status: stringEnum(DOCUMENT_STATUSES, {
    description:
      'Indexing status. waiting: waits for a sync; parsing: is being read; recognizing: its images wait for text recognition; ' +
      'indexing: full-text search finds it, and its vectors are being computed; indexed: can be found; failed: could not be read ' +
      '(see error); skipped: not a document, or without text (see error). Lists contain skipped files only if they are filtered by ' +
      'this status.',
  }),
  error: nullable(Type.String({ description: 'Why the document could not be read or was skipped.' })),
  notice: nullable(Type.String({ description: 'What could not be read of the document, such as macros.' })),
  pages: nullable(count('Number of pages, slides or sheets; null if the format has none.')),
  chunks: count('Number of passages.'),
  metadata,
}
export const Document = resource('document', fields, {
  description: 'A document of a knowledge source.',
  examples: [createExample('doc', example, fields)],
})

export const DocumentCreate = namedObject(
  'DocumentCreate',
  'A new document, with either content or content_base64.',
  {
    name,
    ...optional({
      content: Type.String({ description: 'Text of the document.' }),
      content_base64: Type.String({ description: 'Content of the document, in base64.' }),
      metadata,
      index: flag('Whether to start a sync that indexes the document. If false, it is indexed by the next sync.', true),
    }),
  },
  [{ name: 'leave.md', content: '# Leave\n\nTwenty-five days a year.' }],
)

/** The text of a file that is attached to a message. */
export const MAX_TEXT_CHARACTERS = 200_000

export const DocumentContent = namedObject(
  'DocumentContent',
  'A document to read.',
  { name, content_base64: Type.String({ description: 'Content of the document, in base64.' }) },
  [{ name: 'leave.md', content_base64: 'IyBMZWF2ZQ==' }],
)
export const ReadText = namedObject('ReadText', 'The text of a document.', {
  text: Type.String({ description: 'Text of the document, with its headings, lists and tables as Markdown.' }),
  truncated: flag(`Whether the document has more than ${MAX_TEXT_CHARACTERS.toLocaleString('en')} characters.`),
})

const params = object({ id: identifier('the knowledge source'), document_id: identifier('the document') })
const document = { family: 'knowledge-sources', path: '/knowledge-sources/{id}/documents/{document_id}', params, response: Document }
const documents = {
  family: 'knowledge-sources',
  path: '/knowledge-sources/{id}/documents',
  params: idParams('knowledge source'),
  response: Document,
}
export const documentRoutes = {
  list: route({
    ...documents,
    id: 'documents.list',
    method: 'GET',
    summary: 'List documents of a knowledge source',
    access: 'read',
    query: listQuery(Document),
    shape: 'page',
  }),
  create: route({
    ...documents,
    id: 'documents.create',
    callsModel: true,
    method: 'POST',
    summary: 'Add a document',
    description:
      'Replaces an existing document with the same name. Starts a sync of the knowledge source unless index is false, and returns ' +
      'immediately: the status of the document becomes indexed or failed, that of the source active or error.',
    access: 'write',
    body: DocumentCreate,
    status: 201,
    bodyLimit: MAX_DOCUMENT_BODY_BYTES,
  }),
  readText: route({
    family: 'knowledge-sources',
    id: 'documents.read-text',
    method: 'POST',
    path: '/documents/text',
    summary: 'Read a document as text',
    description:
      'Reads a document of any supported format, for example to send it with a message, and recognises up to 30 scanned pages. ' +
      'Nothing is stored.',
    access: 'chat',
    body: DocumentContent,
    response: ReadText,
    bodyLimit: MAX_DOCUMENT_BODY_BYTES,
  }),
  get: route({ ...document, id: 'documents.get', method: 'GET', summary: 'Get a document', access: 'read' }),
  remove: route({ ...document, id: 'documents.remove', method: 'DELETE', summary: 'Delete a document', access: 'write', shape: 'message' }),
}
