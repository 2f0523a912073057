/** Routes of the OpenAI-compatible API, which are below /v1 instead of /api. */
import { type Static, Type } from 'typebox'
import { conversationRoutes } from '../families/conversations.ts'
import { route } from '../route.ts'
import { namedObject, nonEmptyText, object, stringEnum } from '../schemas/fields.ts'
import { MAX_IMAGE_BODY_BYTES } from '../schemas/images.ts'
import { CHAT_EVENTS, ChatCompletion, ChatCompletionCreate } from './chat-completions.ts'
import { EmbeddingCreate, EmbeddingList } from './embeddings.ts'
import { created } from './fields.ts'
import { RESPONSE_EVENTS } from './response-events.ts'
import { DeletedResponse, OpenaiResponse, ResponseCreate } from './responses.ts'

export type OpenaiModel = Static<typeof OpenaiModel>
export const OpenaiModel = namedObject(
  'OpenaiModel',
  "An agent or a model in OpenAI's format.",
  {
    id: Type.String({ description: 'Name of the agent or model, or its identifier if the name is not unique.' }),
    object: Type.Literal('model', { description: 'Kind of object.' }),
    created: created('creation'),
    owned_by: Type.String({ description: 'cadre, or the provider of the model.' }),
    cadre: namedObject('OpenaiModelOrigin', 'The agent or model.', {
      type: stringEnum(['agent', 'model', 'embedding_model'], { description: 'What it is.' }),
      id: Type.String({ description: 'Identifier of the agent or model.' }),
    }),
  },
  [
    {
      id: 'Helper',
      object: 'model',
      created: 1_769_851_800,
      owned_by: 'cadre',
      cadre: { type: 'agent', id: 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a' },
    },
  ],
)

const shared = { family: 'openai', protocol: 'openai', shape: 'bare' } as const
const modelCall = { ...shared, method: 'POST', callsModel: true, callsExternalService: true, bodyLimit: MAX_IMAGE_BODY_BYTES } as const
const responseParams = object({ response_id: nonEmptyText('Identifier of the response.', 200) })
const replyCall = {
  ...modelCall,
  description:
    "Answers with an agent or a model. The agent's tools run inside; calls of the client's tools end the reply. " +
    'With store, or with the header Cadre-Conversation (the identifier of a conversation), the question and the reply are stored.',
  access: 'chat',
  storesConversation: true,
} as const

export const openaiRoutes = {
  listModels: route({
    ...shared,
    id: 'openai.models.list',
    method: 'GET',
    path: '/v1/models',
    summary: 'List agents and models',
    description: 'Members see agents only.',
    access: 'any',
    response: namedObject('OpenaiModelList', "Agents and models in OpenAI's format.", {
      object: Type.Literal('list', { description: 'Kind of object.' }),
      data: Type.Array(OpenaiModel, { description: 'Agents and models.' }),
    }),
  }),
  getModel: route({
    ...shared,
    id: 'openai.models.get',
    method: 'GET',
    path: '/v1/models/{model}',
    summary: 'Get an agent or model',
    access: 'any',
    params: object({ model: nonEmptyText('Name or identifier of the agent or model.', 200) }),
    response: OpenaiModel,
  }),
  createChatCompletion: route({
    ...replyCall,
    id: 'openai.chat-completions.create',
    path: '/v1/chat/completions',
    summary: 'Create a chat completion',
    body: ChatCompletionCreate,
    response: ChatCompletion,
    events: CHAT_EVENTS,
  }),
  createResponse: route({
    ...replyCall,
    id: 'openai.responses.create',
    path: '/v1/responses',
    summary: 'Create a response',
    body: ResponseCreate,
    response: OpenaiResponse,
    events: RESPONSE_EVENTS,
  }),
  getResponse: route({
    ...shared,
    id: 'openai.responses.get',
    method: 'GET',
    path: '/v1/responses/{response_id}',
    summary: 'Get a stored response',
    description: 'The settings of its request are not stored.',
    access: conversationRoutes.get.access,
    params: responseParams,
    response: OpenaiResponse,
  }),
  deleteResponse: route({
    ...shared,
    id: 'openai.responses.delete',
    method: 'DELETE',
    path: '/v1/responses/{response_id}',
    summary: 'Delete a stored response',
    description: 'Deletes the reply and its question, and the conversation if nothing else is in it.',
    access: conversationRoutes.remove.access,
    params: responseParams,
    response: DeletedResponse,
  }),
  createEmbeddings: route({
    ...modelCall,
    id: 'openai.embeddings.create',
    path: '/v1/embeddings',
    summary: 'Create embeddings',
    access: 'read',
    body: EmbeddingCreate,
    response: EmbeddingList,
  }),
}
