/** Memories: facts that an agent keeps about a user. */
import { type Static, Type } from 'typebox'
import { createBody, createCollectionAction, createCrudRoutes, createFamily, updateBody } from '../../crud.ts'
import { route } from '../../route.ts'
import {
  createExample,
  flag,
  identifier,
  integer,
  namedObject,
  nonBlankText,
  nonEmptyText,
  nullable,
  object,
  optional,
  resource,
  stringEnum,
  timestamp,
} from '../../schemas/fields.ts'

export const MAX_MEMORY_LENGTH = 1_000
const content = nonBlankText('The fact, in a sentence or two. Keys, tokens and passwords are rejected.', MAX_MEMORY_LENGTH)
const agent_id = identifier('the agent')
const user_id = nonEmptyText('User whom the fact is about. Default: the user of the token. Only admins can choose another one.', 200)
const expires_at = nullable(timestamp('Time at which the memory is deleted; null keeps it'))
const Replacement = namedObject('ReplacedMemory', 'A former version of a memory.', {
  content: Type.String({ description: 'The former fact.' }),
  replaced_at: timestamp('Time at which it was replaced'),
})
const example = { agent_id: 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a', content: 'The user works in the Berlin office.' }
const stored = createExample('mem', {
  ...example,
  user_id: 'ada',
  expires_at: null,
  source: 'agent',
  has_untrusted_text: false,
  conversation_id: 'conv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  message_id: 'msg_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  history: [],
})

export type Memory = Static<typeof Memory>
export const Memory = resource(
  'memory',
  {
    agent_id,
    user_id,
    content,
    expires_at,
    source: stringEnum(['user', 'agent'], { description: 'Who wrote it: a person, or the agent in a reply.' }),
    has_untrusted_text: flag('Whether the agent had read documents or results of tools before it wrote this. A person confirmed it.'),
    conversation_id: nullable(identifier('the conversation in which the agent wrote it')),
    message_id: nullable(identifier('the reply in which the agent wrote it')),
    history: Type.Array(Replacement, { description: 'Former versions of the fact, newest first.' }),
  },
  { description: 'A fact that an agent keeps about a user.', examples: [stored] },
)
const MemoryCreate = createBody('memory', { agent_id, content }, { user_id, expires_at }, example)
const MemoryUpdate = updateBody('memory', { content, expires_at }, { content: 'The user works in the Hamburg office.' })

export const memories = createFamily({
  name: 'memories',
  noun: 'memory',
  prefix: 'mem',
  resource: Memory,
  create: MemoryCreate,
  update: MemoryUpdate,
})

const routes = createCrudRoutes(memories, { read: 'any', change: 'chat', isConfidential: true })
export type MemoryMatch = Static<typeof MemoryMatch>
const MemoryMatch = namedObject('MemoryMatch', 'A memory that a search found.', {
  ...Memory.properties,
  score: Type.Number({ description: 'Relevance; higher is better.' }),
})
export const memoryRoutes = {
  ...routes,
  create: route({
    ...routes.create,
    description:
      'A fact that is known is not stored twice. A fact that contradicts a known one, such as another favorite color, replaces it ' +
      'and keeps it in `history`. The response is then the existing memory.',
  }),
  search: route({
    ...createCollectionAction(memories, 'search'),
    summary: 'Search the memories of a user',
    description: 'Finds memories by their words and their meaning, best first.',
    access: 'any',
    isConfidential: true,
    body: namedObject(
      'MemorySearch',
      'A search in the memories of an agent.',
      {
        agent_id,
        query: nonBlankText('What to search for.', 2_000),
        ...optional({
          user_id,
          limit: integer('Largest number of memories.', { minimum: 1, maximum: 100, default: 10 }),
        }),
      },
      [{ agent_id: example.agent_id, query: 'Where does the user work?' }],
    ),
    response: namedObject(
      'FoundMemories',
      'The memories that a search found.',
      { memories: Type.Array(MemoryMatch, { description: 'Memories, best first.' }) },
      [{ memories: [] }],
    ),
  }),
  clear: route({
    id: 'memories.clear',
    family: 'memories',
    method: 'DELETE',
    path: '/memories',
    summary: 'Delete all memories of a user',
    description: 'Deletes them with their history and vectors, and overwrites them in the files of the home. Backups keep them.',
    access: 'chat',
    query: object(
      optional({
        user_id,
        agent_id: identifier('the agent. Default: all agents'),
        conversation_id: identifier('the conversation they come from'),
      }),
    ),
    response: Memory,
    shape: 'message',
  }),
}
