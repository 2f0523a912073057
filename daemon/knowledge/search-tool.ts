/** Creates the search tool that RAG tools and retrieval tools offer to a model. */
import { object, optional } from '../../src/contract/schemas/fields.ts'
import { query, top_k } from '../../src/contract/schemas/passages.ts'
import type { RetrievedPassage, Tool, ToolContext } from '../core/tool.ts'
import type { Validator } from '../validation/validator.ts'

const SearchInput = object({ query, ...optional({ top_k }) })

/** Requests are the keys of recordings: with other descriptions, recordings of agents with search tools no longer match. */
const PARAMETERS = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'What to look for: a question, or words of what is sought.' },
    top_k: { type: 'integer', minimum: 1, maximum: 100, description: 'Most passages to find; leave it out for the usual number.' },
  },
  required: ['query'],
  additionalProperties: false,
}

export interface ToolIdentity {
  id: string
  name: string
  description: string
}

export type SearchSources = (query: string, topK: number | undefined, use: ToolContext) => Promise<RetrievedPassage[]>

export function createSearchTool(
  { id, name, description }: ToolIdentity,
  validator: Validator,
  search: SearchSources,
  abilities: Pick<Tool, 'countDocuments' | 'compute' | 'listNeighbours' | 'companions'>,
): Tool {
  return {
    id,
    name,
    description: description.trim() === '' ? `Finds passages about a question in the documents of "${name}".` : description,
    parameters: PARAMETERS,
    requiresConfirmation: false,
    run: async (input, use) => {
      validator.check(SearchInput, input)
      const { query, top_k } = input as { query: string; top_k?: number }
      return { kind: 'passages', passages: await search(query, top_k, use) }
    },
    retrieve: (question, use) => search(question, undefined, use),
    ...abilities,
  }
}
