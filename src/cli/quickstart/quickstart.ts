/** The steps of `cadre quickstart`: prompts, indexing, agent and first question. */
import { resolve } from 'node:path'
import { call } from '../../client/call.ts'
import { removeEmptyConversation } from '../../client/remove-empty-conversation.ts'
import type { Connection } from '../../client/request.ts'
import type { Agent } from '../../contract/families/agents.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import { EMBEDDED_MODEL_ID, modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { printReply } from '../ask/print-reply.ts'
import { completeFolder, expandHome } from '../input/complete-folder.ts'
import { addSource, isUnreadable, removeAddedSource } from '../knowledge/add-source.ts'
import { formatNotices, formatSyncOutcome } from '../knowledge/follow-sync.ts'
import { formatWatchNotice } from '../knowledge/format-watch-notice.ts'
import { OTHER_FOLDER_HINT, validateFolder } from '../knowledge/inspect-folder.ts'
import { planSources } from '../knowledge/plan-sources.ts'
import { addModels, type DiscoveredModel } from '../models/add-discovered-models.ts'
import { paint } from '../terminal/color.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import type { ProgressDisplay } from '../terminal/progress-bar.ts'
import { type Dialog, withDialog } from '../terminal/prompts.ts'
import { sanitizeLine } from '../terminal/text.ts'
import { wrapForStream } from '../terminal/wrap-sentences.ts'
import {
  createAgentTemplate,
  createDocumentationSource,
  DOCUMENTATION_AGENT,
  DOCUMENTATION_TOOL,
  ensureAgent,
} from './documentation-agent.ts'

const NO_MODEL_NOTICE = 'Found no local model server and no provider API key. Using the embedded model, which quotes the documents.'

const FOLDER_QUESTION = "Which folder of documents should it answer from? Press Tab to complete, or Enter to use Cadre's documentation."

interface QuickstartContext {
  connection: Connection
  display: ProgressDisplay
}

interface DocumentOptions {
  /** Undefined means Cadre's documentation. */
  path: string | undefined
  /** Name of the source (default: the folder name). */
  name: string | undefined
  /** Installation folder of Cadre. */
  root: string
}

/** Sets the default model and returns the folder; undefined means Cadre's documentation. */
export async function askForModelAndFolder(
  { connection, display }: QuickstartContext,
  given: string | undefined,
): Promise<string | undefined> {
  display.show({ label: 'Discovering models', done: 0, total: null, unit: '' })
  const { data: settings } = await call(connection, systemRoutes.getSettings, {})
  const hasDefaultModel = settings.default_model_id !== EMBEDDED_MODEL_ID
  const found = hasDefaultModel ? [] : (await call(connection, modelRoutes.discover, {})).data
  display.clear()
  if (!hasDefaultModel && found.length === 0) display.log(NO_MODEL_NOTICE)
  return withDialog(async (dialog) => {
    if (found.length > 0) await offerModels(connection, found, dialog)
    return given ?? (await askForFolder(dialog))
  })
}

async function offerModels(connection: Connection, found: readonly DiscoveredModel[], dialog: Dialog): Promise<void> {
  connection.notify('Available models (the embedded model only quotes the documents):')
  if (found.some(({ endpoint }) => endpoint === null))
    connection.notify('Models with an API key receive your questions and passages over the network.')
  const options = found.map((model) => ({
    value: model,
    label: model.name,
    note: model.endpoint === null ? `key in ${model.origin}` : model.origin,
  }))
  const [model] = await dialog.choose('Which model?', options, { multiple: false, emptyLabel: 'Enter for the embedded model' })
  if (!model) return
  const [added] = model.added === null ? await addModels(connection, [model], found) : []
  const default_model_id = added?.id ?? model.added
  if (!default_model_id) return
  await call(connection, systemRoutes.updateSettings, { body: { default_model_id } })
  connection.notify(`${paint('bold', sanitizeLine(model.name))} is now the default model. To undo: cadre models default Embedded`)
}

async function askForFolder(dialog: Dialog): Promise<string | undefined> {
  process.stderr.write(`${wrapForStream(FOLDER_QUESTION, process.stderr)}\n`)
  for (;;) {
    const answer = (await dialog.ask('Folder: ', completeFolder)).replace(/^(["'])(.*)\1$/, '$2')
    if (answer === '') return undefined
    const path = expandHome(answer)
    const problem = await validateFolder(path)
    if (!problem) return resolve(path)
    process.stderr.write(`${wrapForStream(paint('yellow', sanitizeLine(problem.message)), process.stderr)}\n`)
  }
}

/** Indexes the documents and creates the agent; existing ones are reused. Without a tool, there is no agent. */
export async function prepareAgent({ connection, display }: QuickstartContext, { path, name, root }: DocumentOptions) {
  const send = !connection.isSameMachine
  const [addition] = path === undefined ? [await createDocumentationSource(root, send)] : await planSources([path], { send, name })
  if (!addition) throw new UsageError(`Folder not found: ${path}.`)
  const naming =
    path === undefined ? { tool: DOCUMENTATION_TOOL.name, description: DOCUMENTATION_TOOL.description } : { tool: addition.name }
  const added = await addSource(addition, { connection, display, ...naming, wait: true, command: 'cadre quickstart' })
  const { source, tool, sync: synced } = added
  if (synced) display.log(formatSyncOutcome(synced))
  for (const line of await formatNotices(connection, source)) display.log(line)
  if (isUnreadable(source) || source.statistics.documents === 0) {
    // Never deletes a source that existed before.
    if (added.isNew) await removeAddedSource(connection, added)
    throw new UsageError(`${addition.location} has no readable documents.`, OTHER_FOLDER_HINT)
  }
  if (path !== undefined) for (const line of formatWatchNotice(source)) display.log(paint('dim', line))
  if (!tool) return { source, tool, agent: undefined }
  const { agent, made } = await ensureAgent(
    connection,
    path === undefined ? DOCUMENTATION_AGENT : createAgentTemplate(addition.name),
    tool.id,
  )
  display.log(
    `${paint('bold', sanitizeLine(agent.name))}: ` +
      `${made ? 'created an agent that answers from it' : 'this existing agent answers from it'}.`,
  )
  return { source, tool, agent }
}

/** Returns an empty string to skip the question. */
export function askForQuestion(): Promise<string> {
  return withDialog((dialog) => dialog.ask('\nWhat would you like to know? (Enter to skip) '))
}

/** Asks in a new conversation, streams the reply with its citations and returns the conversation ID. */
export async function askAgent(connection: Connection, agent: Agent, question: string): Promise<string> {
  const { data } = await call(connection, conversationRoutes.create, { body: { agent_id: agent.id } })
  const view = { question, citations: true, full: false, quiet: false, json: false, tools: 'ask' } as const
  await printReply(connection, { conversation: data.id, message: question }, view).catch(async (error: unknown) => {
    await removeEmptyConversation(connection, data.id)
    throw error
  })
  return data.id
}
