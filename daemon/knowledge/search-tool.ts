/** Creates the search tool that RAG tools and retrieval tools offer to a model. */
import { object, optional } from '../../src/contract/schemas/fields.ts'
import { query, top_k } from '../../src/contract/schemas/passages.ts'
import type { RetrievedPassage, Tool } from '../core/tool.ts'
import type { Validator } from '../validation/validator.ts'

const SearchInput = object({ query, ...optional({ top_k }) })

const PARAMETERS = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'A question or keywords to search for.' },
    top_k: { type: 'integer', minimum: 1, maximum: 100, description: 'Maximum number of passages. Omit it for the default.' },
  },
  required: ['query'],
  additionalProperties: false,
}

interface ToolIdentity {
  id: string
  name: string
  description: string
}

export function createSearchTool(
  { id, name, description }: ToolIdentity,
  validator: Validator,
  search: (query: string, topK: number | undefined) => Promise<RetrievedPassage[]>,
): Tool {
  return {
    id,
    name,
    description: description.trim() === '' ? `Searches the documents of "${name}" for passages that answer a question.` : description,
    parameters: PARAMETERS,
    requiresConfirmation: false,
    run: async (input) => {
      validator.check(SearchInput, input)
      const { query, top_k } = input as { query: string; top_k?: number }
      return { kind: 'passages', passages: await search(query, top_k) }
    },
    retrieve: (question) => search(question, undefined),
  }
}
