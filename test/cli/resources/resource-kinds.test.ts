import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { KINDS } from '../../../src/cli/resources/resource-kinds.ts'
import { agents } from '../../../src/contract/families/agents.ts'
import { apiTools } from '../../../src/contract/families/api-tools.ts'
import { evaluations } from '../../../src/contract/families/evaluations.ts'
import { knowledgeSources } from '../../../src/contract/families/knowledge-sources.ts'
import { mcpServers } from '../../../src/contract/families/mcp/mcp-servers.ts'
import { mcpTools } from '../../../src/contract/families/mcp/mcp-tools.ts'
import { models } from '../../../src/contract/families/models.ts'
import { promptTemplates } from '../../../src/contract/families/prompt-templates.ts'
import { ragTools } from '../../../src/contract/families/rag-tools.ts'
import { retrievalTools } from '../../../src/contract/families/retrieval-tools.ts'

const test = suite('resource kinds')

test('prefixes and nouns of KINDS match the contract', () => {
  const families = {
    agent: agents,
    model: models,
    prompt_template: promptTemplates,
    knowledge_source: knowledgeSources,
    rag_tool: ragTools,
    retrieval_tool: retrievalTools,
    api_tool: apiTools,
    mcp_server: mcpServers,
    mcp_tool: mcpTools,
    evaluation: evaluations,
  }
  assert.equal(Object.keys(KINDS), Object.keys(families))
  for (const [kind, { prefix, noun }] of Object.entries(families)) {
    const entry = KINDS[kind as keyof typeof families]
    assert.equal([entry.prefix, entry.noun], [prefix, noun], kind)
  }
})

test.run()
