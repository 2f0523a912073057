/** What the commands of the chat do. */

import { formatLocation } from '../../cli/ask/format-location.ts'
import { formatNoMatch } from '../../cli/ask/format-passages.ts'
import { sanitizeLine } from '../../cli/terminal/text.ts'
import { call } from '../../client/call.ts'
import { usageRoutes } from '../../contract/families/usage.ts'
import { type CommandCall, type CommandName, formatHelp } from '../input/slash-commands.ts'
import { formatCost, formatCount } from '../render/status-line.ts'
import { listTools, searchDocuments } from '../session/agent-tools.ts'
import {
  type ConversationRecord,
  findAgent,
  findConversation,
  findModel,
  listAgents,
  listConversationsByOwner,
  listLastMessages,
  listModels,
  renameConversation,
} from '../session/api.ts'
import type { ChatSession } from '../session/chat-session.ts'
import { describeError } from '../session/reply-stream.ts'
import { buildQuoteContext, type Choice, findLastReply, listSources, type Picker, sumUsage } from '../state/chat-state.ts'
import { type Citation, getText } from '../state/reply-reducer.ts'
import { EMPTY_TRANSCRIPT, reduceTranscript } from '../state/transcript-reducer.ts'
import { exportConversation } from './export-conversation.ts'

type CommandHandler = (room: ChatSession, argument: string, signal: AbortSignal) => void | Promise<void>

const MAX_MESSAGES = 10_000
/** Commands after which keys mean something else. */
const SWITCH_COMMANDS: ReadonlySet<CommandName> = new Set(['agents', 'agent', 'model', 'resume', 'history'])
const NEVER_ABORTED = new AbortController().signal

/** Runs a command. What goes wrong is a note: the chat goes on. */
export async function runCommand(room: ChatSession, { name, argument }: CommandCall): Promise<void> {
  const work = (signal: AbortSignal) => HANDLERS[name](room, argument, signal)
  await reportErrors(room, () => (SWITCH_COMMANDS.has(name) ? room.switcher.run(work) : work(NEVER_ABORTED)))
}

async function reportErrors(room: ChatSession, work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const { error: what, hint } = describeError(error)
    room.store.addNote([what, hint].filter(Boolean).join('\n'), 'bad')
  }
}

/** Something was chosen of what a picker showed. */
export async function applyChoice(room: ChatSession, what: Picker['target'], id: string): Promise<void> {
  const change = async (signal: AbortSignal) => {
    if (what === 'agent') await switchAgent(room, id, signal)
    else if (what === 'model') await switchModel(room, id, signal)
    else await room.resume(await findConversation(await room.client.getConnection(), id), signal)
  }
  await reportErrors(room, () => room.switcher.run(change))
}

async function switchAgent(room: ChatSession, agent: string, signal: AbortSignal): Promise<void> {
  const found = await findAgent(await room.client.getConnection(), agent)
  await room.startConversation(found, { anew: true, signal })
}

async function switchModel(room: ChatSession, model: string, signal: AbortSignal): Promise<void> {
  const found = await findModel(await room.client.getConnection(), model)
  signal.throwIfAborted()
  room.setModel(found)
  room.store.addNote(`${found.name} writes from now on.`)
}

/** Opens a picker; without a screen the choices are listed, with the command that takes them. */
function openPicker(
  { store: desk, isPlain: plain }: ChatSession,
  what: Picker['target'],
  title: string,
  choices: readonly Choice[],
  command: string,
): void {
  if (choices.length === 0) desk.addNote(`There is nothing to choose from: ${title.toLowerCase()}.`)
  else if (!plain) desk.update({ panel: { kind: 'picker', target: what, title, choices, filter: '', selected: 0 } })
  else {
    const lines = choices.map(({ id, label, note }) =>
      [what === 'conversation' ? id : '', label, note].filter(Boolean).map(sanitizeLine).join('  '),
    )
    desk.addNote([...lines, `To choose: /${command} ${what === 'conversation' ? 'ID' : 'NAME'}`].join('\n'))
  }
}

/** Who could answer; whom Enter alone should choose comes first, wherever the list would have it. */
export async function openAgentPicker(
  room: ChatSession,
  { likeliest, signal }: { likeliest?: string | undefined; signal?: AbortSignal } = {},
): Promise<void> {
  const connection = await room.client.getConnection()
  const listed = await listAgents(connection)
  const first = likeliest === undefined ? [] : [listed.find(({ id }) => id === likeliest) ?? (await findAgent(connection, likeliest))]
  const choices = [...first, ...listed.filter(({ id }) => id !== likeliest)].map(({ id, name, description }) => ({
    id,
    label: name,
    note: description,
  }))
  signal?.throwIfAborted()
  openPicker(room, 'agent', 'Agents', choices, 'agent')
}

/** Today's times as times, others as days. */
export function formatTimestamp(timestamp: string, now: number): string {
  const date = new Date(timestamp)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = (value: Date) => `${value.getFullYear()}-${two(value.getMonth() + 1)}-${two(value.getDate())}`
  return day(date) === day(new Date(now)) ? `${two(date.getHours())}:${two(date.getMinutes())}` : day(date)
}

function requireConversation({ store: desk }: ChatSession): { id: string; title: string | null } {
  const { conversation } = desk.state
  if (!conversation) throw new Error('Nothing was said yet.')
  return conversation
}

const HANDLERS: Record<CommandName, CommandHandler> = {
  help: ({ store: desk, isPlain: plain }) => desk.addMarkdown(formatHelp({ plain, columns: desk.state.size.columns })),
  new: (room) => {
    room.assertIdle()
    room.store.update({ conversation: undefined })
    room.store.announceConversation('A new conversation begins.')
  },
  agents: (room, _, signal) => openAgentPicker(room, { signal }),
  agent: async (room, name, signal) => {
    if (name !== '') return switchAgent(room, name, signal)
    const { agent } = room
    if (!agent) throw new Error('Nobody was chosen yet. /agents shows who could answer.')
    const { model } = room.store.state
    room.store.addMarkdown(
      [`**${agent.name}**${model ? ` · ${model.name}` : ''}`, agent.description, agent.system_prompt && `> ${agent.system_prompt}`]
        .filter(Boolean)
        .join('\n\n'),
    )
  },
  model: async (room, name, signal) => {
    if (name !== '') return switchModel(room, name, signal)
    const models = await listModels(await room.client.getConnection())
    signal.throwIfAborted()
    openPicker(
      room,
      'model',
      'Models',
      models.map(({ id, name: label, provider, model_id }) => ({ id, label, note: `${provider} · ${model_id}` })),
      'model',
    )
  },
  tools: async (room) => {
    const tools = await listTools(await room.client.getConnection(), room.agent?.tools ?? [])
    if (tools.length === 0) return room.store.addNote(`${room.agent?.name ?? 'The agent'} has no tools.`)
    room.store.addMarkdown(
      tools
        .map(
          ({ name, kind, description, requiresConfirmation: asks }) =>
            `- **${name}** (${kind}${asks ? ', asks first' : ''}) ${description}`,
        )
        .join('\n'),
    )
  },
  sources: (room) => toggleSources(room),
  search: async (room, query) => {
    if (query === '') throw new Error('What should be looked for? /search annual leave')
    const found = await searchDocuments(await room.client.getConnection(), room.agent?.tools ?? [], query)
    if (!found) throw new Error(`${room.agent?.name ?? 'The agent'} has no documents to search.`)
    const { citations, loose } = found
    if (citations.length === 0) return room.store.addNote('Nothing was found.')
    const title = loose ? formatNoMatch(query) : `Found for "${sanitizeLine(query)}"`
    if (room.isPlain) return room.store.addNote([...(loose ? [title] : []), ...citations.map(formatPassage)].join('\n'))
    const shown = citations.map((citation) => ({ ...citation, quoteContext: query }))
    room.store.update({ panel: { kind: 'sources', title, citations: shown, selected: 0, top: undefined } })
  },
  history: async (room, _, signal) => {
    const { id } = requireConversation(room)
    room.assertIdle()
    const { messages } = await listLastMessages(await room.client.getConnection(), id, MAX_MESSAGES)
    signal.throwIfAborted()
    room.store.replaceTranscript([{ kind: 'loaded', messages }])
  },
  resume: async (room, name, signal) => {
    room.assertIdle()
    const connection = await room.client.getConnection()
    if (name !== '') return room.resume(await findConversation(connection, name), signal)
    const { own, others } = await listConversationsByOwner(connection)
    const choice = ({ id, title, updated_at }: ConversationRecord, whose = '') => ({
      id,
      label: title ?? 'untitled',
      note: formatTimestamp(updated_at, room.store.now()) + whose,
    })
    const choices = [...own.map((each) => choice(each)), ...others.map((each) => choice(each, ` · of ${each.user_id}`))]
    signal.throwIfAborted()
    openPicker(room, 'conversation', 'Conversations', choices, 'resume')
  },
  title: async (room, title) => {
    const { id } = requireConversation(room)
    if (title === '') throw new Error('What should it be called? /title Leave in summer')
    await renameConversation(await room.client.getConnection(), id, title)
    // Another conversation may have begun since.
    if (room.store.state.conversation?.id === id) room.store.update({ conversation: { id, title } })
    room.store.addNote(`It is called "${title}" now.`, 'good')
  },
  export: async (room, file) => {
    const { id } = requireConversation(room)
    const name = await exportConversation(await room.client.getConnection(), id, { file, cwd: room.cwd })
    room.store.addNote(`The conversation was written to ${name}.`, 'good')
  },
  copy: async (room) => {
    const reply = findLastReply(room.store.state.transcript)
    if (!reply || getText(reply) === '') throw new Error('There is no reply to copy.')
    if (!(await room.copy(getText(reply))))
      throw new Error('The clipboard cannot be reached from here. /export writes the conversation to a file.')
    room.store.addNote('The last reply is in the clipboard.', 'good')
  },
  usage: async (room) => {
    const connection = await room.client.getConnection()
    const { conversation } = room.store.state
    // Of one that was taken up again only the end is on the screen.
    const { messages } = conversation ? await listLastMessages(connection, conversation.id, MAX_MESSAGES) : { messages: [] }
    const { tokens, cost } = sumUsage(reduceTranscript(EMPTY_TRANSCRIPT, { kind: 'loaded', messages }))
    const today = new Date(room.store.now()).toISOString().slice(0, 10)
    const { data } = await call(connection, usageRoutes.stats, { query: { start_date: today } })
    const spent = (all: number, price: number | null) => `${formatCount(all)} tokens, ${formatCost(price)}.`
    room.store.addNote(`This conversation: ${spent(tokens, cost)}\nToday, all together: ${spent(data.total_tokens, data.total_cost)}`)
  },
  clear: ({ store: desk }) => desk.redraw({ cleared: true }),
  quit: ({ quit: leave }) => leave(),
}

/** The passages behind the last reply, open or closed again. */
export function toggleSources({ store: desk, isPlain: plain }: ChatSession): void {
  const { transcript, panel } = desk.state
  const reply = findLastReply(transcript)
  const citations = listSources(reply).map((citation) => ({ ...citation, quoteContext: buildQuoteContext(transcript, reply, citation.index) }))
  if (plain) desk.addNote(citations.length === 0 ? 'The last reply stands on no documents.' : citations.map(formatPassage).join('\n'))
  else
    desk.update({
      panel: panel?.kind === 'sources' ? undefined : { kind: 'sources', title: 'Sources', citations, selected: 0, top: undefined },
    })
}

const formatPassage = (citation: Citation) => `[${citation.index}] ${formatLocation(citation)}: ${sanitizeLine(citation.content)}`
