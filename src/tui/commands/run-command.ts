/** Handlers of the slash commands. */
import { formatLocation } from '../../cli/ask/format-location.ts'
import { formatNoMatch } from '../../cli/ask/format-passages.ts'
import { sanitizeLine } from '../../cli/terminal/text.ts'
import { call } from '../../client/call.ts'
import { type ConversationItem, conversationRoutes } from '../../contract/families/conversations.ts'
import { usageRoutes } from '../../contract/families/usage.ts'
import { formatCost } from '../../contract/schemas/currency.ts'
import type { Citation } from '../../contract/schemas/messages.ts'
import { setText } from '../input/line-editor.ts'
import { type CommandCall, type CommandName, formatHelp, PLAIN_COMMANDS } from '../input/slash-commands.ts'
import { formatTokens } from '../render/status-line.ts'
import { listTools, searchDocuments } from '../session/agent-tools.ts'
import {
  findAgent,
  findConversation,
  findModel,
  listAgents,
  listConversationsByOwner,
  listLastMessages,
  listModels,
  MAX_MESSAGES,
  searchConversations,
} from '../session/api.ts'
import { type ChatSession, requireConversation } from '../session/chat-session.ts'
import { describeError } from '../session/reconnecting-reply.ts'
import { findLastMessage, retryLastMessage } from '../session/send-message.ts'
import { buildQuoteContext, type Choice, findLastReply, listSources, type Picker, sumMessageUsage } from '../state/chat-state.ts'
import { getText } from '../state/reply-reducer.ts'
import { exportConversation } from './export-conversation.ts'
import { manageMemory } from './memory-command.ts'
import { compactConversation, showSummary } from './summary-commands.ts'

type PickerTarget = Exclude<Picker['target'], 'history'>
type CommandHandler = (session: ChatSession, argument: string, signal: AbortSignal) => void | Promise<void>

/** Commands that open a list or change the conversation: keys are held back until they are done. */
const SWITCH_COMMANDS: ReadonlySet<CommandName> = new Set(['agents', 'agent', 'model', 'resume', 'history', 'search'])
const NEVER_ABORTED = new AbortController().signal

/** Runs a command and adds a note if it fails. */
export async function runCommand(session: ChatSession, { name, argument }: CommandCall): Promise<void> {
  if (session.isPlain && !PLAIN_COMMANDS.some((command) => command.name === name))
    return session.store.addNote(`The plain chat has no /${name}. To list commands: /help`, 'bad')
  const work = (signal: AbortSignal) => HANDLERS[name](session, argument, signal)
  await reportErrors(session, () => (SWITCH_COMMANDS.has(name) ? session.switcher.run(work) : work(NEVER_ABORTED)))
}

async function reportErrors(session: ChatSession, work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const { error: message, hint } = describeError(error)
    session.store.addNote([message, hint].filter(Boolean).join('\n'), 'bad')
  }
}

export async function applyChoice(session: ChatSession, target: PickerTarget, id: string): Promise<void> {
  const change = async (signal: AbortSignal) => {
    if (target === 'agent') await switchAgent(session, id, signal)
    else if (target === 'model') await switchModel(session, id, signal)
    else await session.resume(await findConversation(await session.client.getConnection(), id), signal)
  }
  await reportErrors(session, () => session.switcher.run(change))
}

async function switchAgent(session: ChatSession, agent: string, signal: AbortSignal): Promise<void> {
  const record = await findAgent(await session.client.getConnection(), agent)
  await session.startConversation(record, { announce: true, signal })
}

async function switchModel(session: ChatSession, model: string, signal: AbortSignal): Promise<void> {
  const record = await findModel(await session.client.getConnection(), model)
  signal.throwIfAborted()
  session.setModel(record)
  session.store.addNote(`Switched to ${record.name}.`)
}

const PICKERS = {
  agent: { title: 'Agents', command: '/agent NAME' },
  model: { title: 'Models', command: '/model NAME' },
  conversation: { title: 'Conversations', command: '/resume ID' },
}

/** Opens a picker. Without a screen, lists the choices and the command that selects one. */
function openPicker({ store, isPlain }: ChatSession, target: PickerTarget, choices: readonly Choice[]): void {
  const { title, command } = PICKERS[target]
  if (choices.length === 0) store.addNote(`There are no ${title.toLowerCase()}.`)
  else if (!isPlain) store.update({ panel: { kind: 'picker', target, title, choices, filter: '', selected: 0 } })
  else {
    const lines = choices.map(({ id, label, note }) =>
      [target === 'conversation' ? id : '', label, note].filter(Boolean).map(sanitizeLine).join('  '),
    )
    store.addNote([...lines, `To select one: ${command}`].join('\n'))
  }
}

/** Lists the agents; the preselected one comes first. */
export async function openAgentPicker(
  session: ChatSession,
  { preselected, signal }: { preselected?: string | undefined; signal?: AbortSignal } = {},
): Promise<void> {
  const connection = await session.client.getConnection()
  const agents = await listAgents(connection)
  const first = preselected === undefined ? [] : [agents.find(({ id }) => id === preselected) ?? (await findAgent(connection, preselected))]
  const choices = [...first, ...agents.filter(({ id }) => id !== preselected)].map(({ id, name, description }) => ({
    id,
    label: name,
    note: description,
  }))
  signal?.throwIfAborted()
  openPicker(session, 'agent', choices)
}

/** Formats a timestamp of today as time, others as date. */
function formatTimestamp(timestamp: string, now: number): string {
  const date = new Date(timestamp)
  const pad = (value: number) => String(value).padStart(2, '0')
  const day = (value: Date) => `${value.getFullYear()}-${pad(value.getMonth() + 1)}-${pad(value.getDate())}`
  return day(date) === day(new Date(now)) ? `${pad(date.getHours())}:${pad(date.getMinutes())}` : day(date)
}

const HANDLERS: Record<CommandName, CommandHandler> = {
  help: ({ store, isPlain }) => store.addMarkdown(formatHelp({ isPlain, columns: store.state.size.columns })),
  new: (session) => {
    session.assertIdle()
    session.store.update({ conversation: undefined })
    session.store.announceConversation('Started a new conversation.')
  },
  agents: (session, _, signal) => openAgentPicker(session, { signal }),
  agent: async (session, name, signal) => {
    if (name !== '') return switchAgent(session, name, signal)
    const { agent } = session
    if (!agent) throw new Error('No agent is selected. To select one: /agents')
    const { model } = session.store.state
    session.store.addMarkdown(
      [`**${agent.name}**${model ? ` · ${model.name}` : ''}`, agent.description, agent.system_prompt && `> ${agent.system_prompt}`]
        .filter(Boolean)
        .join('\n\n'),
    )
  },
  model: async (session, name, signal) => {
    if (name !== '') return switchModel(session, name, signal)
    const models = await listModels(await session.client.getConnection())
    signal.throwIfAborted()
    const choices = models.map(({ id, name: label, provider, model_id }) => ({ id, label, note: `${provider} · ${model_id}` }))
    openPicker(session, 'model', choices)
  },
  tools: async (session) => {
    const tools = await listTools(await session.client.getConnection(), session.agent?.tools ?? [])
    if (tools.length === 0) return session.store.addNote(`${session.agent?.name ?? 'The agent'} has no tools.`)
    session.store.addMarkdown(
      tools
        .map(
          ({ name, kind, description, requiresConfirmation }) =>
            `- **${name}** (${kind}${requiresConfirmation ? ', requires confirmation' : ''}) ${description}`,
        )
        .join('\n'),
    )
  },
  sources: (session) => toggleSources(session),
  search: async (session, query, signal) => {
    if (query === '') throw new Error('Missing query. Example: /search annual leave')
    session.assertIdle()
    const found = await searchConversations(await session.client.getConnection(), query)
    signal.throwIfAborted()
    if (found.length === 0) return session.store.addNote(`No message contains "${sanitizeLine(query)}".`)
    const choices = found.map(({ id, title, match }) => ({
      id,
      label: title ?? 'untitled',
      note: match ? `${formatTimestamp(match.timestamp, session.store.now())} · ${match.snippet}` : '',
    }))
    openPicker(session, 'conversation', choices)
  },
  documents: async (session, query) => {
    if (query === '') throw new Error('Missing query. Example: /documents annual leave')
    const result = await searchDocuments(await session.client.getConnection(), session.agent?.tools ?? [], query)
    if (!result) throw new Error(`${session.agent?.name ?? 'The agent'} has no documents to search.`)
    const { citations, loose } = result
    if (citations.length === 0) return session.store.addNote('No results.')
    const title = loose ? formatNoMatch(query) : `Found for "${sanitizeLine(query)}"`
    if (session.isPlain) return session.store.addNote([...(loose ? [title] : []), ...citations.map(formatPassage)].join('\n'))
    const shown = citations.map((citation) => ({ ...citation, quoteContext: { query, quoted: '' } }))
    session.store.update({ panel: { kind: 'sources', title, citations: shown, selected: 0, top: undefined } })
  },
  history: async (session, _, signal) => {
    const { id } = requireConversation(session)
    session.assertIdle()
    const { messages } = await listLastMessages(await session.client.getConnection(), id, MAX_MESSAGES)
    signal.throwIfAborted()
    session.store.replaceTranscript([{ kind: 'loaded', messages }])
  },
  resume: async (session, name, signal) => {
    session.assertIdle()
    const connection = await session.client.getConnection()
    if (name !== '') return session.resume(await findConversation(connection, name), signal)
    const { own, others } = await listConversationsByOwner(connection)
    const choice = ({ id, title, updated_at }: ConversationItem, owner = '') => ({
      id,
      label: title ?? 'untitled',
      note: formatTimestamp(updated_at, session.store.now()) + owner,
    })
    const choices = [
      ...own.map((conversation) => choice(conversation)),
      ...others.map((conversation) => choice(conversation, ` · ${conversation.user_id}`)),
    ]
    signal.throwIfAborted()
    openPicker(session, 'conversation', choices)
  },
  title: async (session, title) => {
    const { id } = requireConversation(session)
    if (title === '') throw new Error('Missing title. Example: /title Summer leave')
    await call(await session.client.getConnection(), conversationRoutes.update, { params: { id }, body: { title } })
    // The user may have switched to another conversation meanwhile.
    if (session.store.state.conversation?.id === id) session.store.update({ conversation: { id, title } })
    session.store.addNote(`Renamed the conversation to "${title}".`, 'good')
  },
  export: async (session, file) => {
    const { id } = requireConversation(session)
    const name = await exportConversation(await session.client.getConnection(), id, { file, cwd: session.cwd })
    session.store.addNote(`Exported the conversation to ${name}.`, 'good')
  },
  compact: compactConversation,
  summary: showSummary,
  memory: manageMemory,
  copy: async (session) => {
    const reply = findLastReply(session.store.state.transcript)
    if (!reply || getText(reply) === '') throw new Error('There is no reply to copy.')
    const { outcome, note } = await session.terminal.copy(getText(reply))
    const more = outcome === 'copied' ? '' : '\nTo write the conversation to a file: /export'
    session.store.addNote(`${note}${more}`, ({ copied: 'good', unknown: 'plain', failed: 'bad' } as const)[outcome])
  },
  retry: async (session) => {
    session.assertIdle()
    if (!(await retryLastMessage(session))) throw new Error('There is no message to retry.')
  },
  edit: (session) => {
    session.assertIdle()
    const text = findLastMessage(session)
    if (text === undefined) throw new Error('There is no message to change.')
    session.store.update({ editor: setText(session.store.state.editor, text), replacesLast: true })
  },
  usage: async (session) => {
    const connection = await session.client.getConnection()
    const { conversation } = session.store.state
    // Of a resumed conversation, the transcript contains only the last messages.
    const { messages } = conversation ? await listLastMessages(connection, conversation.id, MAX_MESSAGES) : { messages: [] }
    const { tokens, estimated, cost } = sumMessageUsage(messages)
    const today = new Date(session.store.now()).toISOString().slice(0, 10)
    // Without the calls of indexing and searches outside conversations.
    const { data } = await call(connection, usageRoutes.stats, { query: { start_date: today, entity_type: 'agent' } })
    const { total_tokens, estimated_tokens, total_cost, currency, unpriced_tokens } = data
    const unpriced = total_cost && unpriced_tokens > 0 ? ` and ${formatTokens(unpriced_tokens, false)} without a price` : ''
    // A free model, such as the embedded one, has a price of 0, which must not hide the models without a price.
    const costToday = formatCost(unpriced_tokens > 0 && !total_cost ? null : total_cost, currency)
    session.store.addNote(
      `Replies of this conversation: ${formatTokens(tokens, estimated)}, ${formatCost(cost, currency)}.\n` +
        `All agents today (UTC): ${formatTokens(total_tokens, estimated_tokens > 0)}, ${costToday}${unpriced}.\n` +
        'Neither includes indexing. To show all usage: cadre usage',
    )
  },
  clear: ({ store }) => store.clearScreen(),
  quit: ({ quit }) => quit(),
}

/** Opens or closes the sources of the last reply. */
export function toggleSources({ store, isPlain }: ChatSession): void {
  const { transcript, panel } = store.state
  const reply = findLastReply(transcript)
  const citations = listSources(reply).map((citation) => ({
    ...citation,
    quoteContext: buildQuoteContext(transcript, reply, citation.index),
  }))
  if (isPlain) store.addNote(citations.length === 0 ? 'The last reply has no sources.' : citations.map(formatPassage).join('\n'))
  else
    store.update({
      panel: panel?.kind === 'sources' ? undefined : { kind: 'sources', title: 'Sources', citations, selected: 0, top: undefined },
    })
}

const formatPassage = (citation: Citation) => `[${citation.index}] ${formatLocation(citation)}: ${sanitizeLine(citation.content)}`
