/** Recordings: what a model answered once, kept to be played back by models of the provider replay. */
import { Type } from 'typebox'
import { idParams } from '../crud.ts'
import { route } from '../route.ts'
import { jsonObject, object, timestamp } from '../schemas/fields.ts'
import { listQuery } from '../schemas/list-query.ts'

const key = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the request: the same request has the same key.' })
const answer = {
  key,
  request: jsonObject('What was asked: messages, tools, passages and settings.'),
  parts: Type.Array(jsonObject('Text, a tool call, or the end with its count of tokens.'), {
    minItems: 1,
    maxItems: 10_000,
    description: 'What was answered.',
  }),
}
export const Recording = object(
  { ...answer, created_at: timestamp('When it was recorded') },
  { description: 'One request and what was answered.' },
)

const action = { family: 'models', params: idParams('model') }
export const recordingRoutes = {
  list: route({
    ...action,
    id: 'recordings.list',
    method: 'GET',
    path: '/models/{id}/recordings',
    summary: 'List the recordings of a replay model',
    access: 'read',
    query: listQuery(object({ key, created_at: timestamp('When it was recorded') })),
    response: Recording,
    shape: 'page',
  }),
  add: route({
    ...action,
    id: 'recordings.add',
    method: 'POST',
    path: '/models/{id}/recordings',
    summary: 'Bring recordings to a replay model',
    description: 'Those of another home, so that what was recorded there plays here. One that is here already is replaced.',
    access: 'change',
    bodyLimit: 64 * 1024 * 1024,
    body: object({
      recordings: Type.Array(object(answer), { minItems: 1, maxItems: 1_000, description: 'Recordings, as the list gives them.' }),
    }),
    response: object({ added: Type.Integer({ minimum: 0, description: 'How many.' }) }),
  }),
  clear: route({
    ...action,
    id: 'recordings.clear',
    method: 'DELETE',
    path: '/models/{id}/recordings',
    summary: 'Forget the recordings of a replay model',
    access: 'change',
    response: Type.String(),
    shape: 'message',
  }),
}
