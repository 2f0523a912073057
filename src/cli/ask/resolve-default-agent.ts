/** Which agent is meant where none is named: one rule for `ask` and `chat`. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { agentRoutes } from '../../contract/families/agents.ts'
import { resolveOwn } from '../resources/resolve-references.ts'
import { agentTopic } from '../resources/topics/agents.ts'
import { UsageError } from '../terminal/errors.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { oneLine } from '../terminal/text.ts'

/** There are several, and nothing says which one; where somebody can choose, it is no error. */
export class AmbiguousAgentError extends UsageError {}

const MAX_LISTED_AGENTS = 5

interface DefaultAgentOptions {
  /** The agent that `cadre config set agent` names. */
  configuredAgent?: string | undefined
  /** What was called, as far as an agent would stand there, and what comes after it. */
  command: string
  suffix?: string
}

/** The one that is set, else the only one. Never a guess among several: a question may not be for everybody. */
export async function resolveDefaultAgent(
  connection: Connection,
  { configuredAgent: preferred, command, suffix: rest = '' }: DefaultAgentOptions,
): Promise<string> {
  if (preferred !== undefined) return resolveConfiguredAgent(connection, preferred)
  const { data, pagination } = await call(connection, agentRoutes.list, { query: { limit: MAX_LISTED_AGENTS } })
  const [first, ...others] = data
  if (!first)
    throw new CadreError('NOT_FOUND', 'There is no agent yet.', {
      hint: 'cadre quickstart makes one that knows Cadre; cadre agents create makes one of your own.',
    })
  if (others.length === 0) return first.id
  /** Whether it is the only one of that name, and that can be typed. */
  const isAddressable = ({ name, id }: typeof first) =>
    oneLine(name) === name && data.every((other) => other.id === id || other.name !== name)
  const names = data.map((agent) => (isAddressable(agent) ? agent.name : `${oneLine(agent.name)} (${agent.id})`))
  const example = quoteShellWord(isAddressable(first) ? first.name : first.id)
  throw new AmbiguousAgentError(
    `There are ${pagination.total} agents, and none was named: ${names.join(', ')}${pagination.total > data.length ? ', …' : ''}.`,
    `Name one: ${command} ${example}${rest}. To mean it always: cadre config set agent ${example}`,
  )
}

async function resolveConfiguredAgent(connection: Connection, preferred: string): Promise<string> {
  try {
    return await resolveOwn(connection, agentTopic, preferred)
  } catch (error) {
    if (!(error instanceof CadreError) || error.code !== 'NOT_FOUND') throw error
    throw new CadreError(error.code, `The agent "${preferred}", which cadre config names, is not there.`, {
      hint: 'cadre config set agent NAME chooses another one, cadre config unset agent none.',
      cause: error,
    })
  }
}
