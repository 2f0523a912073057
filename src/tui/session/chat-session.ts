/** The chat without its screen: who answers, in which conversation, and changing either. */
import { type AgentModel, findAgentModel, toAgentModel } from '../../cli/ask/find-agent-model.ts'
import { fetchHealth } from '../../client/daemon.ts'
import type { Connection } from '../../client/request.ts'
import { clearAndRemember, setText } from '../input/editor.ts'
import type { ChatStore } from '../state/chat-store.ts'
import type { Message } from '../state/reply-reducer.ts'
import {
  type AgentRecord,
  type ConversationRecord,
  createConversation,
  findAgent,
  listAgents,
  listLastMessages,
  listModels,
  type ModelRecord,
} from './api.ts'
import { ConversationSwitch } from './conversation-switch.ts'
import { ReconnectingClient } from './reconnecting-client.ts'
import { ReplyStream } from './reply-stream.ts'

export interface ChatSessionDependencies {
  store: ChatStore
  connect: (start: boolean) => Promise<Connection>
  /** Line by line, without a screen. */
  isPlain: boolean
  cwd: string
  quit: () => void
  copy: (text: string) => Promise<boolean>
}

/** Messages that are shown when a conversation is taken up again. */
const RESUMED_MESSAGES = 20

export class ChatSession {
  readonly store: ChatStore
  readonly client: ReconnectingClient
  readonly replies: ReplyStream
  readonly switcher: ConversationSwitch
  readonly isPlain: boolean
  readonly cwd: string
  readonly quit: () => void
  readonly copy: (text: string) => Promise<boolean>
  agent: AgentRecord | undefined
  /** The model that was chosen here, in place of the agent's. */
  chosenModel: string | undefined
  /** What was sent last: as it was typed, and with its files. */
  lastMessage: { text: string; message: string } | undefined
  /** What was not sent because of a file in it; sent once more it is meant. */
  unconfirmedText: string | undefined
  /** For completing their names. */
  agentNames: string[] = []
  modelNames: string[] = []

  constructor({ store: desk, connect, isPlain: plain, cwd, quit: leave, copy }: ChatSessionDependencies) {
    this.store = desk
    this.isPlain = plain
    this.cwd = cwd
    this.quit = leave
    this.copy = copy
    this.switcher = new ConversationSwitch(desk)
    const answers = async (url: string) => (await fetchHealth(url)) !== undefined
    const tell = (trouble: string | undefined) => {
      if (trouble !== desk.state.connectionProblem) desk.update({ connectionProblem: trouble })
    }
    this.client = new ReconnectingClient({ connect, isReachable: answers, reportProblem: tell })
    this.replies = new ReplyStream({
      client: this.client,
      dispatch: desk.dispatch,
      getTranscript: () => desk.state.transcript,
      ensureConversation: (connection) => this.ensureConversation(connection),
      getModel: () => this.chosenModel,
      now: desk.now,
    })
  }

  /** The conversation that is talked in. It is made with the first message: nobody wants a list of empty ones. */
  async ensureConversation(connection: Connection): Promise<string> {
    const { conversation, agent } = this.store.state
    if (conversation) return conversation.id
    if (!agent) throw new Error('Nobody is here to answer. /agents shows who could.')
    const { id, title } = await createConversation(connection, agent.id)
    this.store.update({ conversation: { id, title } })
    return id
  }

  /** Talks with an agent, in a new conversation. With `anew` a note says so, and a model chosen before no longer counts. */
  async startConversation(agent: AgentRecord, { anew = false, signal }: { anew?: boolean; signal?: AbortSignal } = {}): Promise<void> {
    const chosen = anew ? undefined : this.chosenModel
    const model = await this.#findModel(agent, chosen)
    signal?.throwIfAborted()
    this.assertIdle()
    this.agent = agent
    this.chosenModel = chosen
    this.store.update({ agent: { id: agent.id, name: agent.name }, model, conversation: undefined, ...(anew ? { panel: undefined } : {}) })
    if (anew) this.store.announceConversation(`${agent.name} answers now, in a new conversation.`)
  }

  async #findModel(agent: AgentRecord, chosen: string | undefined): Promise<AgentModel | undefined> {
    return chosen === undefined ? findAgentModel(await this.client.getConnection(), agent) : this.store.state.model
  }

  setModel(model: ModelRecord): void {
    this.chosenModel = model.id
    this.store.update({ model: toAgentModel(model), panel: undefined })
  }

  /** Goes on with a conversation: its last messages are shown again, and can be sent again. All of it is fetched first and then put in place at once. */
  async resume(conversation: ConversationRecord, signal?: AbortSignal): Promise<void> {
    const connection = await this.client.getConnection()
    if (conversation.agent_id === null)
      throw new Error('The agent of this conversation was deleted. /history shows what was said; /new begins another.')
    const agent = await findAgent(connection, conversation.agent_id)
    const { messages, earlier } = await listLastMessages(connection, conversation.id, RESUMED_MESSAGES)
    const model = await this.#findModel(agent, this.chosenModel)
    signal?.throwIfAborted()
    this.assertIdle()
    const last = messages.at(-1)
    const writing = last?.role === 'assistant' && last.finish_reason === undefined ? last.id : undefined
    const more = `${earlier} earlier ${earlier === 1 ? 'message' : 'messages'}: /history shows them.`
    this.agent = agent
    this.unconfirmedText = undefined
    this.store.replaceTranscript(
      [
        ...(earlier > 0 ? [{ kind: 'noted' as const, text: more }] : []),
        { kind: 'loaded', messages: messages.filter(({ id }) => id !== writing) },
      ],
      {
        agent: { id: agent.id, name: agent.name },
        model,
        conversation: { id: conversation.id, title: conversation.title },
        editor: addToHistory(this.store.state.editor, messages),
        panel: undefined,
      },
    )
    if (writing !== undefined) this.replies.join(writing)
  }

  assertIdle(): void {
    if (this.store.state.transcript.isAwaitingReply) throw new Error('A reply is being written. Esc stops it.')
  }

  /** Names for completion. They may be missing: then there is nothing to complete. */
  async loadNames(): Promise<void> {
    try {
      const connection = await this.client.getConnection()
      this.agentNames = (await listAgents(connection)).map(({ name }) => name)
      this.modelNames = (await listModels(connection)).map(({ name }) => name)
    } catch {
      // the commands that take names say what is wrong
    }
  }
}

function addToHistory(editor: ChatSession['store']['state']['editor'], messages: readonly Message[]): typeof editor {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  const kept = said.reduce((made, text) => clearAndRemember(made, text), editor)
  return setText(kept, editor.text)
}
