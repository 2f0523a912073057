/** Resolves the agent of `ask` and `chat` if none is named. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError, handleError } from '../../contract/errors.ts'
import { agentRoutes } from '../../contract/families/agents.ts'
import { resolveResource } from '../resources/resolve-references.ts'
import { agentTopic } from '../resources/topics/agents.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'

/** Several agents exist and none is configured. Callers with a terminal let the user choose instead. */
export class AmbiguousAgentError extends UsageError {}

/** Callers may ask the default model instead. */
export class NoAgentsError extends CadreError {
  constructor() {
    super('NOT_FOUND', 'There are no agents.', {
      hint: 'Create one with cadre agents create, or try cadre quickstart. To ask a model without an agent: cadre ask --model NAME "…"',
    })
  }
}

const MAX_LISTED_AGENTS = 5

interface DefaultAgentOptions {
  /** The agent set with `cadre config set agent`. */
  configuredAgent?: string | undefined
  /** The command line before and after the agent's name, for the example in the error. */
  command: string
  suffix?: string
}

/** Returns the configured agent or the only one. Never guesses among several: the question may be confidential. */
export async function resolveDefaultAgent(
  connection: Connection,
  { configuredAgent, command, suffix = '' }: DefaultAgentOptions,
): Promise<string> {
  if (configuredAgent !== undefined) return resolveConfiguredAgent(connection, configuredAgent)
  const { data, pagination } = await call(connection, agentRoutes.list, { query: { limit: MAX_LISTED_AGENTS } })
  const [first, ...others] = data
  if (!first) throw new NoAgentsError()
  if (others.length === 0) return first.id
  /** Whether the name is unique among the listed agents and can be typed. */
  const isAddressable = ({ name, id }: typeof first) =>
    sanitizeLine(name) === name && data.every((other) => other.id === id || other.name !== name)
  const names = data.map((agent) => (isAddressable(agent) ? agent.name : `${sanitizeLine(agent.name)} (${agent.id})`))
  const example = quoteShellWord(isAddressable(first) ? first.name : first.id)
  throw new AmbiguousAgentError(
    `There are ${pagination.total} agents, and none is selected: ${names.join(', ')}${pagination.total > data.length ? ', …' : ''}.`,
    `Specify one: ${command} ${example}${suffix}. To set a default: cadre config set agent ${example}`,
  )
}

function resolveConfiguredAgent(connection: Connection, configuredAgent: string): Promise<string> {
  const explain = (error: CadreError) => {
    throw new CadreError(error.code, `The configured agent "${configuredAgent}" does not exist.`, {
      hint: 'Set another one with cadre config set agent NAME, or remove it with cadre config unset agent.',
      cause: error,
    })
  }
  return resolveResource(connection, agentTopic, configuredAgent).catch(handleError('NOT_FOUND', explain))
}
