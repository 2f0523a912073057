/** Resolves the conversation that `ask` sends the question to. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { type CadreError, handleError } from '../../contract/errors.ts'
import { agentRoutes, agents } from '../../contract/families/agents.ts'
import { type ConversationItem, conversationRoutes } from '../../contract/families/conversations.ts'
import type { Model } from '../../contract/families/models.ts'
import { hasResource, resolveResource } from '../resources/resolve-references.ts'
import { agentTopic } from '../resources/topics/agents.ts'
import { conversationTopic } from '../resources/topics/conversations.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'
import { getLastConversation } from './get-last-conversation.ts'
import { looksLikeQuestion } from './questions/looks-like-question.ts'
import { resolveDefaultAgent } from './resolve-default-agent.ts'
import { resolveAgentModel, toAgentModel } from './resolve-model.ts'

export interface Target {
  agent?: string | undefined
  conversation?: string | undefined
  continueLast: boolean
  /** Whether `agent` is the first word of the command, which may be part of an unquoted question. */
  isAgentGuessed?: boolean
  /** The agent set with `cadre config set agent`. */
  configuredAgent?: string | undefined
}

/** Whether the command names an agent or a conversation. */
export const isNamed = ({ agent, conversation, continueLast }: Target) => agent !== undefined || conversation !== undefined || continueLast

/** Splits the arguments into an agent and the words of the question. */
export function splitAgentAndQuestion(words: readonly string[], target: Target): { agent: string | undefined; words: readonly string[] } {
  if (isNamed(target) || words.length < 2) return { agent: target.agent, words }
  return { agent: words[0], words: words.slice(1) }
}

/** Returns the command line before the question, for the example in errors. */
export function formatAskCommand({ agent, conversation, continueLast }: Target): string {
  const selection =
    conversation !== undefined
      ? ` --conversation ${quoteShellWord(conversation)}`
      : agent !== undefined
        ? ` ${continueLast ? '--agent ' : ''}${quoteShellWord(agent)}`
        : ''
  return `cadre ask${selection}${continueLast ? ' --continue' : ''}`
}

const MAX_NAME_LENGTH: number = (agents.resource.properties.name as { maxLength?: number }).maxLength ?? 0

/** Whether the only argument is the name of an agent; then the question is missing or comes from stdin. */
export async function isAgentName(connection: Connection, words: readonly string[], target: Target): Promise<boolean> {
  const [word = '', ...others] = words
  if (others.length > 0 || isNamed(target) || word.length > MAX_NAME_LENGTH) return false
  return hasResource(connection, agentTopic, word)
}

/** Returns the identifier of the conversation, creating one if needed. */
export async function resolveConversation(connection: Connection, target: Target, question: string): Promise<string> {
  if (target.conversation !== undefined) return resolveTitle(connection, target.conversation, question)
  if (target.continueLast) return continueLastConversation(connection, target.agent)
  const agent_id = await resolveAgent(connection, target, question)
  return (await call(connection, conversationRoutes.create, { body: { agent_id } })).data.id
}

/** Resolves a conversation. For a question in place of a title, the hint suggests --continue. */
function resolveTitle(connection: Connection, title: string, question: string): Promise<string> {
  const explain = (error: CadreError) => {
    if (!looksLikeQuestion(title)) throw error
    throw error.withHint(suggestContinue([title, question].join(' ').trim()))
  }
  return resolveResource(connection, conversationTopic, title).catch(handleError('NOT_FOUND', explain))
}

/** Throws if no conversation has the given title and it looks like the question, which is missing. */
export async function rejectQuestionAsTitle(connect: () => Promise<Connection>, { conversation: title }: Target): Promise<void> {
  if (title === undefined || !looksLikeQuestion(title) || (await hasResource(await connect(), conversationTopic, title))) return
  throw new UsageError(`--conversation (-c) needs the ID or title of a conversation, not "${sanitizeLine(title)}".`, suggestContinue(title))
}

const suggestContinue = (question: string) => `To continue your last conversation: cadre ask --continue ${quoteShellWord(question)}`

/** Returns the name of the given or the agent's model if it only quotes documents and would ignore attachments. */
export async function resolveQuotingModel(connection: Connection, conversation: string, given?: Model): Promise<string | undefined> {
  if (given) return toAgentModel(given).onlyQuotes ? given.name : undefined
  const { agent_id } = (await call(connection, conversationRoutes.get, { params: { id: conversation } })).data
  if (agent_id === null) return undefined
  const { data: agent } = await call(connection, agentRoutes.get, { params: { id: agent_id } })
  const model = await resolveAgentModel(connection, agent)
  return model?.onlyQuotes ? model.name : undefined
}

async function continueLastConversation(connection: Connection, agent: string | undefined): Promise<string> {
  const last = await getLastConversation(connection, agent === undefined ? undefined : await resolveResource(connection, agentTopic, agent))
  connection.notify(`Continuing ${formatConversationName(last)}.`)
  return last.id
}

function formatConversationName({ title, id }: ConversationItem): string {
  return title ? `"${sanitizeLine(title)}" (${id})` : id
}

async function resolveAgent(connection: Connection, { agent, isAgentGuessed, configuredAgent }: Target, question: string): Promise<string> {
  if (agent !== undefined)
    return isAgentGuessed ? resolveGuessedAgent(connection, agent, question) : resolveResource(connection, agentTopic, agent)
  return resolveDefaultAgent(connection, { configuredAgent, command: 'cadre ask', suffix: ' "…"' })
}

/** Resolves the first word as an agent. If there is none, the hint suggests quoting the whole question. */
function resolveGuessedAgent(connection: Connection, agent: string, question: string): Promise<string> {
  const explain = (error: CadreError) => {
    const whole = quoteShellWord(`${agent} ${question}`)
    throw error.withHint(`${error.hint}\nIf it is part of the question, quote the whole question: cadre ask ${whole}`)
  }
  return resolveResource(connection, agentTopic, agent).catch(handleError('NOT_FOUND', explain))
}
