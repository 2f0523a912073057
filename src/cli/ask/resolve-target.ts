/** Whom `ask` asks: a conversation that goes on, or a new one with the agent that is meant. */
import type { Static } from 'typebox'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { agentRoutes, agents } from '../../contract/families/agents.ts'
import { type ConversationItem, conversationRoutes } from '../../contract/families/conversations.ts'
import { isCalled, resolveOwn } from '../resources/resolve-references.ts'
import { agentTopic } from '../resources/topics/agents.ts'
import { conversationTopic } from '../resources/topics/conversations.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { oneLine } from '../terminal/text.ts'
import { findAgentModel } from './find-agent-model.ts'
import { getLastConversation } from './get-last-conversation.ts'
import { resolveDefaultAgent } from './resolve-default-agent.ts'

export interface Target {
  agent?: string | undefined
  conversation?: string | undefined
  continueLast: boolean
  /** Whether the agent was taken from the words of the command, and is perhaps no agent but a word of the question. */
  isAgentGuessed?: boolean
  /** The agent that `cadre config set agent` names. */
  configuredAgent?: string | undefined
}

/** Words of the command: an agent and a question, or only the question. */
export function splitAgentAndQuestion(
  words: readonly string[],
  { agent, conversation, continueLast: goOn }: Target,
): { agent: string | undefined; words: readonly string[] } {
  const named = agent !== undefined || conversation !== undefined || goOn
  if (named || words.length < 2) return { agent, words }
  return { agent: words[0], words: words.slice(1) }
}

/** The command as far as a question would follow it. */
export function formatAskCommand({ agent, conversation, continueLast: goOn }: Target): string {
  const whom =
    conversation !== undefined
      ? ` --conversation ${quoteShellWord(conversation)}`
      : agent !== undefined
        ? ` ${goOn ? '--agent ' : ''}${quoteShellWord(agent)}`
        : ''
  return `cadre ask${whom}${goOn ? ' --continue' : ''}`
}

/** Longer texts are no names. */
const MAX_NAME_LENGTH: number = (agents.resource.properties.name as { maxLength?: number }).maxLength ?? 0

/** Whether all that was typed is the name of an agent, so that the question is missing, or stands on stdin. */
export async function isAgentName(
  connection: Connection,
  words: readonly string[],
  { agent, conversation, continueLast: goOn }: Target,
): Promise<boolean> {
  const [word = '', ...others] = words
  if (others.length > 0 || agent !== undefined || conversation !== undefined || goOn || word.length > MAX_NAME_LENGTH) return false
  return isCalled(connection, agentTopic, word)
}

/** The conversation to write in. */
export async function resolveConversation(connection: Connection, target: Target, question: string): Promise<string> {
  if (target.conversation !== undefined) return resolveOwn(connection, conversationTopic, target.conversation)
  if (target.continueLast) return continueLastConversation(connection, target.agent)
  const agent_id = await resolveAgent(connection, target, question)
  return (await call(connection, conversationRoutes.create, { body: { agent_id } })).data.id
}

/** The name of a model that would not read what goes beside the question: it quotes the agent's documents, and would look for the words of it there. */
export async function findQuotingModel(connection: Connection, conversation: string): Promise<string | undefined> {
  const { agent_id } = (await call(connection, conversationRoutes.get, { params: { id: conversation } })).data
  if (agent_id === null) return undefined
  const { data: agent } = await call(connection, agentRoutes.get, { params: { id: agent_id } })
  const model = await findAgentModel(connection, agent)
  return model?.onlyQuotes ? model.name : undefined
}

async function continueLastConversation(connection: Connection, agent: string | undefined): Promise<string> {
  const last = await getLastConversation(connection, agent === undefined ? undefined : await resolveOwn(connection, agentTopic, agent))
  connection.narrate(`Going on in ${formatConversationName(last)}.`)
  return last.id
}

function formatConversationName({ title, id }: Static<typeof ConversationItem>): string {
  return title ? `"${oneLine(title)}" (${id})` : id
}

async function resolveAgent(
  connection: Connection,
  { agent, isAgentGuessed: guessed, configuredAgent: preferred }: Target,
  question: string,
): Promise<string> {
  if (agent !== undefined) return guessed ? resolveGuessedAgent(connection, agent, question) : resolveOwn(connection, agentTopic, agent)
  return resolveDefaultAgent(connection, { configuredAgent: preferred, command: 'cadre ask', suffix: ' "…"' })
}

/** The first of several words is an agent; who forgot the quotes learns that. */
async function resolveGuessedAgent(connection: Connection, agent: string, question: string): Promise<string> {
  try {
    return await resolveOwn(connection, agentTopic, agent)
  } catch (error) {
    if (!(error instanceof CadreError) || error.code !== 'NOT_FOUND') throw error
    throw new CadreError(error.code, error.message, {
      hint: `${error.hint} If it is a part of the question, put all of it in quotes: cadre ask ${quoteShellWord(`${agent} ${question}`)}`,
      cause: error,
    })
  }
}
