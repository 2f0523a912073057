/** Asks an agent a question for an MCP client and reports its progress. */
import { CadreError } from '../../src/contract/errors.ts'
import type { ReplyEvent } from '../../src/contract/reply-events.ts'
import type { AgentsService } from '../agents/service.ts'
import type { AskOnce } from '../conversations/agent-loop/ask-once.ts'
import type { Caller } from '../core/caller.ts'
import type { Meter } from '../core/meter.ts'
import type { ModelsService } from '../models/service.ts'
import type { Database } from '../store/database.ts'
import { findByName } from './find-by-name.ts'
import { formatCitedAnswer } from './format-results.ts'
import type { McpCall, McpResult } from './mcp-tool.ts'

export interface AskDependencies {
  database: Database
  agents: AgentsService
  models: ModelsService
  meter: Meter
  askOnce: AskOnce
}

const MAX_LISTED_AGENTS = 10
const REPORT_INTERVAL_MS = 500

/** Stores nothing but the usage of the model calls. */
export async function askAgent(
  { database, agents, models, meter, askOnce }: AskDependencies,
  { question, agent: reference }: { question: string; agent?: string },
  { caller, signal, report }: McpCall,
): Promise<McpResult> {
  const { id } = await (reference === undefined ? findOnlyAgent(agents, caller) : findByName(agents, caller, reference))
  const loadedAgent = await agents.load(database, id)
  const { message, unsettled } = await askOnce({
    loadedAgent,
    model: await models.getChatModel(database, loadedAgent.agent.model_id),
    question,
    caller,
    origin: caller.userId === null ? {} : { user_id: caller.userId },
    usesMemory: true,
    turn: async () => () => {},
    signal,
    onEvent: createReporter(report),
  })
  await database.write((transaction) => meter.settleAll(transaction, [unsettled]))
  const citations = (message.citations ?? []).filter(({ cited }) => cited)
  const { content: answer, finish_reason = 'other', confidence } = message
  const data = { answer, agent: loadedAgent.agent.name, citations, finish_reason, ...(confidence ? { confidence } : {}) }
  return { text: formatCitedAnswer(answer, citations), data }
}

/** Never guesses among several agents: the question may be confidential. */
async function findOnlyAgent(agents: AgentsService, caller: Caller): Promise<{ id: string }> {
  const { items, total } = await agents.list(caller, { limit: MAX_LISTED_AGENTS, order: 'asc' })
  const [first] = items
  if (!first) throw new CadreError('NOT_FOUND', 'There are no agents.', { hint: 'Create one with: cadre agents create' })
  if (total === 1) return first
  const names = items.map(({ name }) => `"${name}"`).join(', ')
  throw new CadreError('VALIDATION_ERROR', `agent: is required, because there are ${total} agents.`, {
    hint: `Agents: ${names}${total > items.length ? ', …' : ''}.`,
  })
}

/** Text arrives in many small parts, so its progress is reported twice a second at most. */
function createReporter(report: (message: string) => void): (event: ReplyEvent) => void {
  let characters = 0
  let reportedAt = 0
  return (event) => {
    if (event.event === 'tool_call') report(`Calling the tool ${event.data.name}`)
    else if (event.event === 'tool_result') report(`The tool ${event.data.name} ${event.data.error === undefined ? 'answered' : 'failed'}`)
    else if (event.event === 'retrieval') report(`Reading ${event.data.citations.length} passages`)
    else if (event.event === 'message_delta') {
      characters += event.data.text.length
      if (Date.now() - reportedAt < REPORT_INTERVAL_MS) return
      reportedAt = Date.now()
      report(`Writing the answer (${characters} characters)`)
    }
  }
}
