/** Agents: a model, what it is told, and the tools it may use. */
import { Type } from 'typebox'
import { crud, type Family } from '../crud.ts'
import { route } from '../route.ts'
import { identifier, jsonObject, nullable, object, optional, resource, resourceName, text } from '../schemas/fields.ts'

const Topic = object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, description: 'What the topic is called.' }),
    description: text('What belongs to it.', 2_000),
    instructions: Type.Optional(text('What the agent is told when it is about this topic.', 20_000)),
  },
  { description: 'A subject the agent covers.' },
)
const TopicInput = Type.Unsafe<string | { name: string; description?: string; instructions?: string }>({
  description: 'A topic, or just its name.',
  anyOf: [
    { type: 'string', minLength: 1, maxLength: 200 },
    object({
      name: Topic.properties.name,
      ...optional({ description: Topic.properties.description }),
      instructions: Topic.properties.instructions,
    }),
  ],
})

const settings = {
  description: text('What the agent is for.', 10_000),
  system_prompt: text('What the model is told before the conversation.'),
  model_id: nullable(
    identifier("a model, or the provider's own name for it, or its name, where that is unique; null is the default model"),
  ),
  temperature: nullable(
    Type.Number({ minimum: 0, maximum: 2, description: "How freely the model writes; null is the model's own default." }),
  ),
  max_tokens: nullable(
    Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'Longest reply, in tokens; null is no limit of ours.' }),
  ),
  tools: Type.Array(identifier('a RAG, retrieval or API tool'), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Tools the agent may use.',
  }),
  prompt_template_id: nullable(identifier('a prompt template to use as the system prompt')),
  variables: jsonObject('Values for the variables of the prompt template.'),
}
const example = {
  name: 'Handbook helper',
  description: 'Answers questions about the staff handbook',
  system_prompt: 'Answer from the handbook and cite it.',
  temperature: 0.2,
  max_tokens: 800,
  topics: ['leave', { name: 'travel', description: 'Booking trains and hotels' }],
}

export const Agent = resource(
  'agent',
  { name: resourceName('agent'), ...settings, topics: Type.Array(Topic, { description: 'Subjects the agent covers.' }) },
  {
    description: 'An agent: a model, what it is told, and the tools it may use.',
    examples: [
      {
        id: 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        ...example,
        model_id: null,
        tools: [],
        topics: [{ name: 'leave', description: '' }],
        prompt_template_id: null,
        variables: {},
        created_at: '2026-01-31T09:30:00.000Z',
        updated_at: '2026-01-31T09:30:00.000Z',
      },
    ],
  },
)
const { id, name, description, model_id, temperature, tools, created_at } = Agent.properties
export const AgentItem = object(
  { id, name, description, model_id, temperature, tools, created_at },
  { description: 'An agent as lists show it.' },
)

const topics = Type.Array(TopicInput, { maxItems: 100, description: 'Subjects the agent covers.' })
export const AgentCreate = object(
  { name: resourceName('agent'), ...optional({ ...settings, topics }) },
  { description: 'A new agent.', examples: [example] },
)
export const AgentUpdate = object(optional({ name: resourceName('agent'), ...settings, topics }), {
  description: 'What to change of an agent.',
  minProperties: 1,
  examples: [{ temperature: 0.7 }],
})

export const agents = {
  name: 'agents',
  noun: 'agent',
  path: '/agents',
  prefix: 'agent',
  item: AgentItem,
  resource: Agent,
  create: AgentCreate,
  update: AgentUpdate,
} satisfies Family
const own = crud(agents, { read: 'meet', change: 'change' })
/** What lists of other resources are filtered by as well; agents have no fields for it. */
const alike = {
  type: Type.String({ maxLength: 200, description: 'Only those of this type. All are of the type agent.' }),
  status: Type.String({ maxLength: 200, description: 'Only those of this status. All are active.' }),
}
export const agentRoutes = {
  ...own,
  list: route({ ...own.list, query: object({ ...own.list.query.properties, ...optional(alike) }) }),
}
