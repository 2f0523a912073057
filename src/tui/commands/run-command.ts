/** What the commands of the chat do. */

import { formatLocation } from '../../cli/ask/format-location.ts'
import { formatNoMatch } from '../../cli/ask/format-passages.ts'
import { sanitizeLine } from '../../cli/terminal/text.ts'
import { call } from '../../client/call.ts'
import { usageRoutes } from '../../contract/families/usage.ts'
import { type Called, type CommandName, helpText } from '../input/slash-commands.ts'
import { costText, shortCount } from '../render/status-line.ts'
import { searchWith, toolsOf } from '../session/agent-tools.ts'
import {
  type ConversationRecord,
  findAgent,
  findConversation,
  findModel,
  lastMessages,
  listAgents,
  listModels,
  ownAndOthers,
  rename,
} from '../session/api.ts'
import type { Room } from '../session/chat-session.ts'
import { told } from '../session/reply-stream.ts'
import { aboutOf, type Choice, lastReply, type Picker, sourcesOf, totalsOf } from '../state/chat-state.ts'
import { type Citation, textOf } from '../state/reply-reducer.ts'
import { EMPTY, transcribe } from '../state/transcript-reducer.ts'
import { exportTo } from './export-conversation.ts'

type Action = (room: Room, argument: string, signal: AbortSignal) => void | Promise<void>

const ALL = 10_000
/** Commands after which keys mean something else. */
const CHANGES: ReadonlySet<CommandName> = new Set(['agents', 'agent', 'model', 'resume', 'history'])
const NEVER = new AbortController().signal

/** Runs a command. What goes wrong is a note: the chat goes on. */
export async function run(room: Room, { name, argument }: Called): Promise<void> {
  const work = (signal: AbortSignal) => ACTIONS[name](room, argument, signal)
  await attempt(room, () => (CHANGES.has(name) ? room.changing.run(work) : work(NEVER)))
}

async function attempt(room: Room, work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const { error: what, hint } = told(error)
    room.desk.note([what, hint].filter(Boolean).join('\n'), 'bad')
  }
}

/** Something was chosen of what a picker showed. */
export async function choose(room: Room, what: Picker['what'], id: string): Promise<void> {
  const change = async (signal: AbortSignal) => {
    if (what === 'agent') await begin(room, id, signal)
    else if (what === 'model') await writeWith(room, id, signal)
    else await room.resume(await findConversation(await room.link.now(), id), signal)
  }
  await attempt(room, () => room.changing.run(change))
}

async function begin(room: Room, agent: string, signal: AbortSignal): Promise<void> {
  const found = await findAgent(await room.link.now(), agent)
  await room.meet(found, { anew: true, signal })
}

async function writeWith(room: Room, model: string, signal: AbortSignal): Promise<void> {
  const found = await findModel(await room.link.now(), model)
  signal.throwIfAborted()
  room.use(found)
  room.desk.note(`${found.name} writes from now on.`)
}

/** Opens a picker; without a screen the choices are listed, with the command that takes them. */
function offer({ desk, plain }: Room, what: Picker['what'], title: string, choices: readonly Choice[], command: string): void {
  if (choices.length === 0) desk.note(`There is nothing to choose from: ${title.toLowerCase()}.`)
  else if (!plain) desk.update({ panel: { kind: 'picker', what, title, choices, filter: '', selected: 0 } })
  else {
    const lines = choices.map(({ id, label, note }) =>
      [what === 'conversation' ? id : '', label, note].filter(Boolean).map(sanitizeLine).join('  '),
    )
    desk.note([...lines, `To choose: /${command} ${what === 'conversation' ? 'ID' : 'NAME'}`].join('\n'))
  }
}

/** Who could answer; whom Enter alone should choose comes first, wherever the list would have it. */
export async function offerAgents(
  room: Room,
  { likeliest, signal }: { likeliest?: string | undefined; signal?: AbortSignal } = {},
): Promise<void> {
  const connection = await room.link.now()
  const listed = await listAgents(connection)
  const first = likeliest === undefined ? [] : [listed.find(({ id }) => id === likeliest) ?? (await findAgent(connection, likeliest))]
  const choices = [...first, ...listed.filter(({ id }) => id !== likeliest)].map(({ id, name, description }) => ({
    id,
    label: name,
    note: description,
  }))
  signal?.throwIfAborted()
  offer(room, 'agent', 'Agents', choices, 'agent')
}

/** Today's times as times, others as days. */
export function when(timestamp: string, now: number): string {
  const date = new Date(timestamp)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = (value: Date) => `${value.getFullYear()}-${two(value.getMonth() + 1)}-${two(value.getDate())}`
  return day(date) === day(new Date(now)) ? `${two(date.getHours())}:${two(date.getMinutes())}` : day(date)
}

function current({ desk }: Room): { id: string; title: string | null } {
  const { conversation } = desk.state
  if (!conversation) throw new Error('Nothing was said yet.')
  return conversation
}

const ACTIONS: Record<CommandName, Action> = {
  help: ({ desk, plain }) => desk.show(helpText({ plain, columns: desk.state.size.columns })),
  new: (room) => {
    room.refuseWhileWriting()
    room.desk.update({ conversation: undefined })
    room.desk.begin('A new conversation begins.')
  },
  agents: (room, _, signal) => offerAgents(room, { signal }),
  agent: async (room, name, signal) => {
    if (name !== '') return begin(room, name, signal)
    const { agent } = room
    if (!agent) throw new Error('Nobody was chosen yet. /agents shows who could answer.')
    const { model } = room.desk.state
    room.desk.show(
      [`**${agent.name}**${model ? ` · ${model.name}` : ''}`, agent.description, agent.system_prompt && `> ${agent.system_prompt}`]
        .filter(Boolean)
        .join('\n\n'),
    )
  },
  model: async (room, name, signal) => {
    if (name !== '') return writeWith(room, name, signal)
    const models = await listModels(await room.link.now())
    signal.throwIfAborted()
    offer(
      room,
      'model',
      'Models',
      models.map(({ id, name: label, provider, model_id }) => ({ id, label, note: `${provider} · ${model_id}` })),
      'model',
    )
  },
  tools: async (room) => {
    const tools = await toolsOf(await room.link.now(), room.agent?.tools ?? [])
    if (tools.length === 0) return room.desk.note(`${room.agent?.name ?? 'The agent'} has no tools.`)
    room.desk.show(
      tools.map(({ name, kind, description, asks }) => `- **${name}** (${kind}${asks ? ', asks first' : ''}) ${description}`).join('\n'),
    )
  },
  sources: (room) => showSources(room),
  search: async (room, query) => {
    if (query === '') throw new Error('What should be looked for? /search annual leave')
    const found = await searchWith(await room.link.now(), room.agent?.tools ?? [], query)
    if (!found) throw new Error(`${room.agent?.name ?? 'The agent'} has no documents to search.`)
    const { citations, loose } = found
    if (citations.length === 0) return room.desk.note('Nothing was found.')
    const title = loose ? formatNoMatch(query) : `Found for "${sanitizeLine(query)}"`
    if (room.plain) return room.desk.note([...(loose ? [title] : []), ...citations.map(passageText)].join('\n'))
    const shown = citations.map((citation) => ({ ...citation, about: query }))
    room.desk.update({ panel: { kind: 'sources', title, citations: shown, selected: 0, top: undefined } })
  },
  history: async (room, _, signal) => {
    const { id } = current(room)
    room.refuseWhileWriting()
    const { messages } = await lastMessages(await room.link.now(), id, ALL)
    signal.throwIfAborted()
    room.desk.replace([{ kind: 'loaded', messages }])
  },
  resume: async (room, name, signal) => {
    room.refuseWhileWriting()
    const connection = await room.link.now()
    if (name !== '') return room.resume(await findConversation(connection, name), signal)
    const { own, others } = await ownAndOthers(connection)
    const choice = ({ id, title, updated_at }: ConversationRecord, whose = '') => ({
      id,
      label: title ?? 'untitled',
      note: when(updated_at, room.desk.now()) + whose,
    })
    const choices = [...own.map((each) => choice(each)), ...others.map((each) => choice(each, ` · of ${each.user_id}`))]
    signal.throwIfAborted()
    offer(room, 'conversation', 'Conversations', choices, 'resume')
  },
  title: async (room, title) => {
    const { id } = current(room)
    if (title === '') throw new Error('What should it be called? /title Leave in summer')
    await rename(await room.link.now(), id, title)
    // Another conversation may have begun since.
    if (room.desk.state.conversation?.id === id) room.desk.update({ conversation: { id, title } })
    room.desk.note(`It is called "${title}" now.`, 'good')
  },
  export: async (room, file) => {
    const { id } = current(room)
    const name = await exportTo(await room.link.now(), id, { file, cwd: room.cwd })
    room.desk.note(`The conversation was written to ${name}.`, 'good')
  },
  copy: async (room) => {
    const reply = lastReply(room.desk.state.transcript)
    if (!reply || textOf(reply) === '') throw new Error('There is no reply to copy.')
    if (!(await room.copy(textOf(reply))))
      throw new Error('The clipboard cannot be reached from here. /export writes the conversation to a file.')
    room.desk.note('The last reply is in the clipboard.', 'good')
  },
  usage: async (room) => {
    const connection = await room.link.now()
    const { conversation } = room.desk.state
    // Of one that was taken up again only the end is on the screen.
    const { messages } = conversation ? await lastMessages(connection, conversation.id, ALL) : { messages: [] }
    const { tokens, cost } = totalsOf(transcribe(EMPTY, { kind: 'loaded', messages }))
    const today = new Date(room.desk.now()).toISOString().slice(0, 10)
    const { data } = await call(connection, usageRoutes.stats, { query: { start_date: today } })
    const spent = (all: number, price: number | null) => `${shortCount(all)} tokens, ${costText(price)}.`
    room.desk.note(`This conversation: ${spent(tokens, cost)}\nToday, all together: ${spent(data.total_tokens, data.total_cost)}`)
  },
  clear: ({ desk }) => desk.redraw({ cleared: true }),
  quit: ({ leave }) => leave(),
}

/** The passages behind the last reply, open or closed again. */
export function showSources({ desk, plain }: Room): void {
  const { transcript, panel } = desk.state
  const reply = lastReply(transcript)
  const citations = sourcesOf(reply).map((citation) => ({ ...citation, about: aboutOf(transcript, reply, citation.index) }))
  if (plain) desk.note(citations.length === 0 ? 'The last reply stands on no documents.' : citations.map(passageText).join('\n'))
  else
    desk.update({
      panel: panel?.kind === 'sources' ? undefined : { kind: 'sources', title: 'Sources', citations, selected: 0, top: undefined },
    })
}

const passageText = (citation: Citation) => `[${citation.index}] ${formatLocation(citation)}: ${sanitizeLine(citation.content)}`
