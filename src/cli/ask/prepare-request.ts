/** Decides what `ask` sends: a message to the conversation of an agent, or a prompt to a model. */
import type { CompletionRequest } from '../../client/follow-completion.ts'
import type { ReplyRequest } from '../../client/follow-reply.ts'
import type { Connection } from '../../client/request.ts'
import type { Model } from '../../contract/families/models.ts'
import { InputReader } from '../input/input-reader.ts'
import { appendDocuments } from '../input/read-documents.ts'
import { agentTopic } from '../resources/topics/agents.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { sanitizeLine } from '../terminal/text.ts'
import { rejectSecondName } from './questions/name-in-question.ts'
import { createQuestionFromStdin, hasStdin, MissingQuestionError, type Question, readQuestion } from './read-question.ts'
import { NoAgentsError } from './resolve-default-agent.ts'
import { resolveModel, resolvePromptModel } from './resolve-model.ts'
import {
  formatAskCommand,
  isAgentName,
  isNamed,
  rejectQuestionAsTitle,
  resolveConversation,
  resolveQuotingModel,
  splitAgentAndQuestion,
  type Target,
} from './resolve-target.ts'

interface AskInput {
  /** The arguments: a question, optionally after the name of an agent. */
  words: readonly string[]
  target: Target
  model: string | undefined
  system: string | undefined
  /** Whether stdin may be read. */
  stdin: boolean
  connect(): Promise<Connection>
  notify(line: string): void
}

export interface PreparedRequest {
  connection: Connection
  request: ReplyRequest | CompletionRequest
  /** The question without its attachments. */
  question: string
  /** A conversation that was created for the question. */
  newConversation?: string
}

export async function prepareRequest(input: AskInput): Promise<PreparedRequest> {
  const { target, notify } = input
  const canOmitAgent = input.system !== undefined || (input.model !== undefined && !isNamed(target))
  const given = await readArguments(input, canOmitAgent)
  const { connection, agent, system } = given
  if (canOmitAgent && agent === undefined)
    return preparePrompt(connection, await resolvePromptModel(connection, input.model), given.question, system, notify)
  if (system !== undefined)
    throw new UsageError(
      `--system cannot be combined with an agent, and "${sanitizeLine(agent ?? '')}" is one.`,
      'Omit --system to ask the agent, or quote the whole question to ask a model.',
    )
  const model = input.model === undefined ? undefined : await resolveModel(connection, input.model)
  const question = given.isAgentOnly
    ? createQuestionFromStdin(given.question.stdin, formatAskCommand({ ...target, agent }), input.stdin && hasStdin())
    : given.question
  if (agent !== undefined && !given.isAgentOnly)
    await rejectSecondName(connection, agentTopic, { name: agent, words: given.words, command: 'cadre ask' })
  const source = { ...target, agent, isAgentGuessed: target.agent === undefined }
  const conversation = await resolveConversation(connection, source, given.words.join(' ')).catch((error: unknown) => {
    if (error instanceof NoAgentsError) return error
    throw error
  })
  if (conversation instanceof NoAgentsError) {
    const defaultModel = await resolvePromptModel(connection, undefined).catch(() => {
      throw conversation // the default model cannot answer, or the caller may not use it
    })
    return preparePrompt(connection, defaultModel, question, undefined, notify)
  }
  reportMissingFiles(question, notify)
  const content = await selectContent(connection, conversation, question, model, notify)
  const isNew = target.conversation === undefined && !target.continueLast
  return {
    connection,
    request: { conversation, ...content, ...(model ? { model: model.id } : {}) },
    question: question.text,
    ...(isNew ? { newConversation: conversation } : {}),
  }
}

/** With `isAgentOnly`, the only argument is the name of an agent; then the question is read from stdin. */
async function readArguments(input: AskInput, canOmitAgent: boolean) {
  const { target, notify, connect } = input
  // With a model, the first word is an agent only if one has this name, which the daemon knows.
  const earlyConnection = canOmitAgent && input.words.length > 1 ? await connect() : undefined
  const canSplit = earlyConnection ? await isAgentName(earlyConnection, input.words.slice(0, 1), target) : !canOmitAgent
  const { agent, words } = canSplit ? splitAgentAndQuestion(input.words, target) : { agent: undefined, words: input.words }
  const reader = new InputReader()
  const system = input.system === undefined ? undefined : await reader.readValue(input.system, 'system')
  const stdin = input.stdin && input.system !== '-'
  const command = formatAskCommand({ ...target, agent })
  const question = await readQuestion({ words, reader, stdin, notify, command }).catch(async (error: unknown) => {
    if (error instanceof MissingQuestionError) await rejectQuestionAsTitle(connect, target)
    throw error
  })
  const connection = earlyConnection ?? (await connect())
  const isAgentOnly = await isAgentName(connection, words, { ...target, agent })
  return { connection, agent: isAgentOnly ? words[0] : agent, isAgentOnly, words, question, system }
}

/** Asks a model without an agent. Nothing is stored. */
async function preparePrompt(
  connection: Connection,
  model: Model,
  question: Question,
  system: string | undefined,
  notify: (line: string) => void,
): Promise<PreparedRequest> {
  reportMissingFiles(question, notify)
  const { images, text } = question
  const message = await appendDocuments(connection, question.message, question.documents)
  return { connection, request: { model: model.id, system, message, images }, question: text }
}

/** Omits attachments if the model would ignore them. */
async function selectContent(
  connection: Connection,
  conversation: string,
  question: Question,
  model: Model | undefined,
  notify: (line: string) => void,
): Promise<{ message: string; images?: Question['images'] }> {
  const { text, message, images, documents, attachments } = question
  const quoting = attachments.length > 0 ? await resolveQuotingModel(connection, conversation, model) : undefined
  if (quoting === undefined) return { message: await appendDocuments(connection, message, documents), images }
  notify(
    `${sanitizeLine(quoting)} only quotes the agent's documents and cannot read ${sanitizeLine(attachments.join(', '))}, which was not ` +
      'sent. Add a model that can: cadre models discover --add',
  )
  return { message: text }
}

function reportMissingFiles({ missingFiles }: Question, notify: (line: string) => void): void {
  for (const missing of missingFiles) notify(`${sanitizeLine(missing)} Sent as plain text.`)
}
