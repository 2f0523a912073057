/** The chat without its screen: agent, model and conversation, and how they change. */
import { type AgentModel, resolveAgentModel, toAgentModel } from '../../cli/ask/resolve-model.ts'
import { call } from '../../client/call.ts'
import { removeEmptyConversation } from '../../client/remove-empty-conversation.ts'
import type { Connection } from '../../client/request.ts'
import type { Agent } from '../../contract/families/agents.ts'
import { type ConversationItem, conversationRoutes } from '../../contract/families/conversations.ts'
import type { Model } from '../../contract/families/models.ts'
import type { Message } from '../../contract/schemas/messages.ts'
import type { HistoryFile } from '../input/history-file.ts'
import { clearAndRemember, type Editor, setText } from '../input/line-editor.ts'
import { type OutgoingText, sumMessageUsage } from '../state/chat-state.ts'
import type { ChatStore } from '../state/chat-store.ts'
import { findAgent, listAgents, listLastMessages, listModels, MAX_MESSAGES } from './api.ts'
import { ConversationSwitch } from './conversation-switch.ts'
import { ReconnectingClient } from './reconnecting-client.ts'
import { ReconnectingReply } from './reconnecting-reply.ts'

interface ChatSessionDependencies {
  store: ChatStore
  connect: (start: boolean) => Promise<Connection>
  /** Prints lines instead of drawing a screen. */
  isPlain: boolean
  cwd: string
  quit: () => void
  terminal: ChatTerminal
  /** Undefined if the history is disabled. */
  history?: HistoryFile | undefined
}

/** What the chat does with the terminal besides drawing. */
export interface ChatTerminal {
  copy: (text: string) => Promise<CopyResult>
  /** Stops the process until the shell continues it. */
  suspend: () => void
  /** Returns the text as changed in the user's editor. */
  edit: (text: string, fileName: string) => Promise<string>
}

export interface CopyResult {
  /** unknown: the terminal does not report whether it accepted the text. */
  outcome: 'copied' | 'unknown' | 'failed'
  /** Where the text is, or why it could not be copied. */
  note: string
}

/** Number of messages shown when a conversation is resumed. */
const RESUMED_MESSAGES = 20

export class ChatSession {
  readonly store: ChatStore
  readonly client: ReconnectingClient
  readonly replies: ReconnectingReply
  readonly switcher: ConversationSwitch
  readonly isPlain: boolean
  readonly cwd: string
  readonly quit: () => void
  readonly terminal: ChatTerminal
  readonly history: HistoryFile | undefined
  agent: Agent | undefined
  /** Id of the model that overrides the agent's model. */
  chosenModel: string | undefined
  /** The last message as typed, and as sent with its attached files. */
  lastMessage: OutgoingText | undefined
  /** Text that was not sent because of an attachment; submitting it again sends it. */
  unconfirmedText: string | undefined
  /** Whether the daemon is reading the documents of a message that is about to be sent. */
  isReadingDocuments = false
  /** Names for completion. */
  agentNames: string[] = []
  modelNames: string[] = []

  constructor({ store, connect, isPlain, cwd, quit, terminal, history }: ChatSessionDependencies) {
    this.store = store
    this.isPlain = isPlain
    this.cwd = cwd
    this.quit = quit
    this.terminal = terminal
    this.history = history
    this.switcher = new ConversationSwitch(store)
    this.client = new ReconnectingClient({
      connect,
      reportProblem: (connectionProblem) => {
        if (connectionProblem !== store.state.connectionProblem) store.update({ connectionProblem })
      },
    })
    this.replies = new ReconnectingReply({
      client: this.client,
      store,
      ensureConversation: (connection) => this.ensureConversation(connection),
      forgetEmptyConversation: () => this.#forgetEmptyConversation(),
      getAgent: () => this.agent?.id,
      getModel: () => this.chosenModel,
    })
  }

  /** Returns the id of the current conversation. Creates it with the first message, so that there are no empty conversations. */
  async ensureConversation(connection: Connection): Promise<string> {
    const { conversation, agent } = this.store.state
    if (conversation) return conversation.id
    if (!agent) throw new Error('No agent is selected. To select one: /agents')
    const { id, title } = (await call(connection, conversationRoutes.create, { body: { agent_id: agent.id } })).data
    this.store.update({ conversation: { id, title } })
    return id
  }

  /** After a first message that was rejected. The next message creates another conversation. */
  async #forgetEmptyConversation(): Promise<void> {
    const { conversation } = this.store.state
    if (!conversation || conversation.title) return
    const isRemoved = await removeEmptyConversation(await this.client.getConnection(), conversation.id)
    if (isRemoved && this.store.state.conversation?.id === conversation.id) this.store.update({ conversation: undefined })
  }

  /** Starts a new conversation with an agent. With `announce`, adds a note and resets the chosen model. */
  async startConversation(agent: Agent, { announce = false, signal }: { announce?: boolean; signal?: AbortSignal } = {}): Promise<void> {
    const chosenModel = announce ? undefined : this.chosenModel
    const model = await this.#resolveModel(agent, chosenModel)
    signal?.throwIfAborted()
    this.assertIdle()
    this.agent = agent
    this.chosenModel = chosenModel
    this.store.update({
      agent: { id: agent.id, name: agent.name },
      model,
      conversation: undefined,
      earlierUsage: undefined,
      ...(announce ? { panel: undefined } : {}),
    })
    if (announce) this.store.announceConversation(`Started a new conversation with ${agent.name}.`)
  }

  async #resolveModel(agent: Agent, chosenModel: string | undefined): Promise<AgentModel | undefined> {
    return chosenModel === undefined ? resolveAgentModel(await this.client.getConnection(), agent) : this.store.state.model
  }

  setModel(model: Model): void {
    this.chosenModel = model.id
    this.store.update({ model: toAgentModel(model), panel: undefined })
  }

  /** Shows the last messages of a conversation and continues it. Loads everything before it changes the state. */
  async resume(conversation: ConversationItem, signal?: AbortSignal): Promise<void> {
    const connection = await this.client.getConnection()
    if (conversation.agent_id === null) throw new Error('The agent of this conversation was deleted. To start a new conversation: /new')
    const agent = await findAgent(connection, conversation.agent_id)
    const { messages, earlier } = await listLastMessages(connection, conversation.id, RESUMED_MESSAGES)
    const model = await this.#resolveModel(agent, this.chosenModel)
    signal?.throwIfAborted()
    this.assertIdle()
    const last = messages.at(-1)
    const liveReply = last?.role === 'assistant' && last.finish_reason === undefined ? last.id : undefined
    const more = `${earlier} earlier ${earlier === 1 ? 'message' : 'messages'}. To show all: /history`
    const earlierUsage = earlier > 0 ? {} : undefined
    this.agent = agent
    this.unconfirmedText = undefined
    this.store.replaceTranscript(
      [
        ...(earlier > 0 ? [{ kind: 'noted' as const, text: more }] : []),
        { kind: 'loaded', messages: messages.filter(({ id }) => id !== liveReply) },
      ],
      {
        agent: { id: agent.id, name: agent.name },
        model,
        conversation: { id: conversation.id, title: conversation.title },
        earlierUsage,
        editor: addToHistory(this.store.state.editor, messages),
        panel: undefined,
      },
    )
    if (liveReply !== undefined) this.replies.join(liveReply)
    if (earlierUsage && !this.isPlain) void this.#sumEarlierUsage(conversation.id, messages[0]?.id, earlierUsage)
  }

  /** Counts the messages before the first one that is shown, while the user reads: a long conversation has many pages. Never rejects. */
  async #sumEarlierUsage(conversation: string, firstShown: string | undefined, pending: object): Promise<void> {
    try {
      const { messages } = await listLastMessages(await this.client.getConnection(), conversation, MAX_MESSAGES)
      const end = messages.findIndex(({ id }) => id === firstShown)
      if (end < 0 || this.store.state.earlierUsage !== pending) return
      this.store.update({ earlierUsage: { totals: sumMessageUsage(messages.slice(0, end)) } })
    } catch {
      // The status line shows no usage rather than a part of it; /usage reports the error.
    }
  }

  /** Loads the texts of earlier chats into the input history. */
  loadHistory(): void {
    const { editor } = this.store.state
    try {
      this.store.update({ editor: { ...editor, history: this.history?.read() ?? [] } })
    } catch (error) {
      this.store.addNote(`The history cannot be read: ${(error as Error).message}`, 'bad')
    }
  }

  assertIdle(): void {
    if (this.store.state.transcript.isAwaitingReply) throw new Error('A reply is in progress. Press Esc to stop it.')
  }

  async loadNames(): Promise<void> {
    try {
      const connection = await this.client.getConnection()
      this.agentNames = (await listAgents(connection)).map(({ name }) => name)
      this.modelNames = (await listModels(connection)).map(({ name }) => name)
    } catch {
      // optional: without names there is no completion
    }
  }
}

export function requireConversation({ store }: ChatSession): { id: string; title: string | null } {
  const { conversation } = store.state
  if (!conversation) throw new Error('The conversation has no messages yet.')
  return conversation
}

/** Adds the user's messages to the input history and keeps the current input. */
function addToHistory(editor: Editor, messages: readonly Message[]): Editor {
  const texts = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  return setText(texts.reduce(clearAndRemember, editor), editor.text)
}
