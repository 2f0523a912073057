/** The chat without its screen: who answers, in which conversation, and changing either. */
import { type AgentModel, findAgentModel, toAgentModel } from '../../cli/ask/find-agent-model.ts'
import { health } from '../../client/daemon.ts'
import type { Connection } from '../../client/request.ts'
import { sent, withText } from '../input/editor.ts'
import type { Desk } from '../state/chat-store.ts'
import type { Message } from '../state/reply-reducer.ts'
import {
  type AgentRecord,
  beginConversation,
  type ConversationRecord,
  findAgent,
  lastMessages,
  listAgents,
  listModels,
  type ModelRecord,
} from './api.ts'
import { Changing } from './conversation-switch.ts'
import { Link } from './reconnecting-client.ts'
import { Session } from './reply-stream.ts'

export interface RoomParts {
  desk: Desk
  connect: (start: boolean) => Promise<Connection>
  /** Line by line, without a screen. */
  plain: boolean
  cwd: string
  leave: () => void
  copy: (text: string) => Promise<boolean>
}

/** Messages that are shown when a conversation is taken up again. */
const SHOWN_AGAIN = 20

export class Room {
  readonly desk: Desk
  readonly link: Link
  readonly session: Session
  readonly changing: Changing
  readonly plain: boolean
  readonly cwd: string
  readonly leave: () => void
  readonly copy: (text: string) => Promise<boolean>
  agent: AgentRecord | undefined
  /** The model that was chosen here, in place of the agent's. */
  chosen: string | undefined
  /** What was sent last: as it was typed, and with its files. */
  last: { text: string; message: string } | undefined
  /** What was not sent because of a file in it; sent once more it is meant. */
  doubted: string | undefined
  /** For completing their names. */
  agentNames: string[] = []
  modelNames: string[] = []

  constructor({ desk, connect, plain, cwd, leave, copy }: RoomParts) {
    this.desk = desk
    this.plain = plain
    this.cwd = cwd
    this.leave = leave
    this.copy = copy
    this.changing = new Changing(desk)
    const answers = async (url: string) => (await health(url)) !== undefined
    const tell = (trouble: string | undefined) => {
      if (trouble !== desk.state.trouble) desk.update({ trouble })
    }
    this.link = new Link({ connect, answers, tell })
    this.session = new Session({
      link: this.link,
      happen: desk.happen,
      transcript: () => desk.state.transcript,
      conversation: (connection) => this.conversation(connection),
      model: () => this.chosen,
      now: desk.now,
    })
  }

  /** The conversation that is talked in. It is made with the first message: nobody wants a list of empty ones. */
  async conversation(connection: Connection): Promise<string> {
    const { conversation, agent } = this.desk.state
    if (conversation) return conversation.id
    if (!agent) throw new Error('Nobody is here to answer. /agents shows who could.')
    const { id, title } = await beginConversation(connection, agent.id)
    this.desk.update({ conversation: { id, title } })
    return id
  }

  /** Talks with an agent, in a new conversation. With `anew` a note says so, and a model chosen before no longer counts. */
  async meet(agent: AgentRecord, { anew = false, signal }: { anew?: boolean; signal?: AbortSignal } = {}): Promise<void> {
    const chosen = anew ? undefined : this.chosen
    const model = await this.#modelFor(agent, chosen)
    signal?.throwIfAborted()
    this.refuseWhileWriting()
    this.agent = agent
    this.chosen = chosen
    this.desk.update({ agent: { id: agent.id, name: agent.name }, model, conversation: undefined, ...(anew ? { panel: undefined } : {}) })
    if (anew) this.desk.begin(`${agent.name} answers now, in a new conversation.`)
  }

  async #modelFor(agent: AgentRecord, chosen: string | undefined): Promise<AgentModel | undefined> {
    return chosen === undefined ? findAgentModel(await this.link.now(), agent) : this.desk.state.model
  }

  use(model: ModelRecord): void {
    this.chosen = model.id
    this.desk.update({ model: toAgentModel(model), panel: undefined })
  }

  /** Goes on with a conversation: its last messages are shown again, and can be sent again. All of it is fetched first and then put in place at once. */
  async resume(conversation: ConversationRecord, signal?: AbortSignal): Promise<void> {
    const connection = await this.link.now()
    if (conversation.agent_id === null)
      throw new Error('The agent of this conversation was deleted. /history shows what was said; /new begins another.')
    const agent = await findAgent(connection, conversation.agent_id)
    const { messages, earlier } = await lastMessages(connection, conversation.id, SHOWN_AGAIN)
    const model = await this.#modelFor(agent, this.chosen)
    signal?.throwIfAborted()
    this.refuseWhileWriting()
    const last = messages.at(-1)
    const writing = last?.role === 'assistant' && last.finish_reason === undefined ? last.id : undefined
    const more = `${earlier} earlier ${earlier === 1 ? 'message' : 'messages'}: /history shows them.`
    this.agent = agent
    this.doubted = undefined
    this.desk.replace(
      [
        ...(earlier > 0 ? [{ kind: 'noted' as const, text: more }] : []),
        { kind: 'loaded', messages: messages.filter(({ id }) => id !== writing) },
      ],
      {
        agent: { id: agent.id, name: agent.name },
        model,
        conversation: { id: conversation.id, title: conversation.title },
        editor: remembering(this.desk.state.editor, messages),
        panel: undefined,
      },
    )
    if (writing !== undefined) this.session.join(writing)
  }

  refuseWhileWriting(): void {
    if (this.desk.state.transcript.awaiting) throw new Error('A reply is being written. Esc stops it.')
  }

  /** Names for completion. They may be missing: then there is nothing to complete. */
  async learnNames(): Promise<void> {
    try {
      const connection = await this.link.now()
      this.agentNames = (await listAgents(connection)).map(({ name }) => name)
      this.modelNames = (await listModels(connection)).map(({ name }) => name)
    } catch {
      // the commands that take names say what is wrong
    }
  }
}

function remembering(editor: Room['desk']['state']['editor'], messages: readonly Message[]): typeof editor {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  const kept = said.reduce((made, text) => sent(made, text), editor)
  return withText(kept, editor.text)
}
