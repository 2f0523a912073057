/** Agents: a model, instructions and tools. */
import { type Static, Type } from 'typebox'
import { createBody, createCrudRoutes, createFamily, updateBody } from '../crud.ts'
import { route } from '../route.ts'
import {
  createExample,
  flag,
  identifier,
  integer,
  jsonObject,
  namedObject,
  nonEmptyText,
  nullable,
  object,
  optional,
  pick,
  resource,
  resourceName,
  text,
} from '../schemas/fields.ts'

const Topic = namedObject('Topic', 'A topic the agent covers.', {
  name: nonEmptyText('Name of the topic.', 200),
  description: text('Description of the topic.', 2_000),
  instructions: Type.Optional(text('Additional instructions for this topic.', 20_000)),
})
const TopicInput = Type.Unsafe<string | { name: string; description?: string; instructions?: string }>({
  description: 'A topic, or just its name.',
  anyOf: [
    { type: 'string', minLength: 1, maxLength: 200 },
    namedObject('TopicInput', 'A topic the agent covers.', {
      name: Topic.properties.name,
      ...optional({ description: Topic.properties.description }),
      instructions: Topic.properties.instructions,
    }),
  ],
})

const settings = {
  description: text('Description of the agent.', 10_000),
  system_prompt: text('Instructions for the model.'),
  model_id: nullable(identifier("the model, its unique name or the provider's name for it; null uses the default model")),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2, description: "Sampling temperature; null uses the model's default." })),
  max_tokens: nullable(integer('Maximum length of a reply, in tokens; null sets no limit.', { minimum: 1, maximum: 10_000_000 })),
  tools: Type.Array(identifier('a RAG, retrieval, API or MCP tool'), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Tools the agent may use.',
  }),
  allowed_tools: Type.Array(identifier('one of the tools'), {
    maxItems: 100,
    uniqueItems: true,
    description:
      'Tools that the agent calls without confirmation, although they require it. Only admins can add tools. ' +
      'A tool is removed when its method, URL or definition changes.',
  }),
  memory: flag('Whether the agent remembers facts about each user across conversations. The embedded model does not.', false),
  prompt_template_id: nullable(identifier('the prompt template used as system prompt')),
  variables: jsonObject('Values of the variables of the prompt template.'),
}
const example = {
  name: 'Handbook helper',
  description: 'Answers questions about the staff handbook',
  system_prompt: 'Answer from the handbook and cite it.',
  temperature: 0.2,
  max_tokens: 800,
  topics: ['leave', { name: 'travel', description: 'Booking trains and hotels' }],
}

const name = resourceName('agent')
const fields = { name, ...settings, topics: Type.Array(Topic, { description: 'Topics the agent covers.' }) }
export type Agent = Static<typeof Agent>
export const Agent = resource('agent', fields, {
  description: 'An agent: a model, instructions and tools.',
  examples: [createExample('agent', example, fields, { topics: [{ name: 'leave', description: '' }] })],
})
export type AgentItem = Static<typeof AgentItem>
export const AgentItem = namedObject(
  'AgentItem',
  'An agent in a list.',
  pick(Agent.properties, ['id', 'name', 'description', 'model_id', 'temperature', 'tools', 'created_at']),
)

const topics = Type.Array(TopicInput, { maxItems: 100, description: 'Topics the agent covers.' })
const AgentCreate = createBody('agent', { name }, { ...settings, topics }, example)
const AgentUpdate = updateBody('agent', { name, ...settings, topics }, { temperature: 0.7 })

export const agents = createFamily({
  name: 'agents',
  noun: 'agent',
  prefix: 'agent',
  item: AgentItem,
  resource: Agent,
  create: AgentCreate,
  update: AgentUpdate,
})
const routes = createCrudRoutes(agents, { read: 'any', change: 'write' })
/** Filters that lists of other resources have; agents have no such fields. */
const filters = {
  type: Type.String({ maxLength: 200, description: 'Filter by type. The type of every agent is agent.' }),
  status: Type.String({ maxLength: 200, description: 'Filter by status. The status of every agent is active.' }),
}
export const agentRoutes = {
  ...routes,
  list: route({ ...routes.list, query: object({ ...routes.list.query.properties, ...optional(filters) }) }),
}
