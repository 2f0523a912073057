/** Recordings: stored model responses that replay models return. */
import { Type } from 'typebox'
import { idParams } from '../crud.ts'
import { route } from '../route.ts'
import { count, jsonObject, namedObject, object, timestamp } from '../schemas/fields.ts'
import { listQuery } from '../schemas/list-query.ts'

const key = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Key of the request. Identical requests have the same key.' })
const content = {
  key,
  request: jsonObject('Request: messages, tools, passages and settings.'),
  parts: Type.Array(jsonObject('A text, a tool call, or the end with its usage.'), {
    minItems: 1,
    maxItems: 10_000,
    description: 'Parts of the response.',
  }),
}
export const Recording = namedObject('Recording', 'A request and its response.', {
  ...content,
  created_at: timestamp('Time of the recording'),
})
const RecordingCreate = namedObject('RecordingCreate', 'A recording to add.', content)

const action = { family: 'models', params: idParams('model') }
export const recordingRoutes = {
  list: route({
    ...action,
    id: 'recordings.list',
    method: 'GET',
    path: '/models/{id}/recordings',
    summary: 'List recordings of a replay model',
    access: 'read',
    query: listQuery(object({ key, created_at: Recording.properties.created_at })),
    response: Recording,
    shape: 'page',
  }),
  add: route({
    ...action,
    id: 'recordings.add',
    method: 'POST',
    path: '/models/{id}/recordings',
    summary: 'Add recordings to a replay model',
    description: 'Imports recordings of another home. Replaces existing recordings with the same key.',
    access: 'write',
    bodyLimit: 64 * 1024 * 1024,
    body: namedObject('RecordingsCreate', 'Recordings to add.', {
      recordings: Type.Array(RecordingCreate, { minItems: 1, maxItems: 1_000, description: 'Recordings, as returned by the list.' }),
    }),
    response: namedObject('RecordingsAdded', 'Result of adding recordings.', {
      added: count('Number of recordings added.'),
    }),
  }),
  clear: route({
    ...action,
    id: 'recordings.clear',
    method: 'DELETE',
    path: '/models/{id}/recordings',
    summary: 'Delete all recordings of a replay model',
    access: 'write',
    response: Type.String(),
    shape: 'message',
  }),
}
