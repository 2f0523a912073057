/** Sends messages and follows their replies across lost connections and restarts of the daemon. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AttachedImage } from '../../cli/input/attachments.ts'
import { followWithRecognizedText } from '../../cli/input/recognize-images.ts'
import { UsageError } from '../../cli/terminal/failures/command-errors.ts'
import { rewriteCommands } from '../../cli/terminal/invocation.ts'
import { call } from '../../client/call.ts'
import { UnreachableError } from '../../client/errors.ts'
import { followReply, type ReplyRequest } from '../../client/follow-reply.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import type { RouteInput } from '../../contract/route.ts'
import type { ChatStore } from '../state/chat-store.ts'
import type { ToolCall } from '../state/reply-reducer.ts'
import { listPendingConfirmations } from '../state/transcript-reducer.ts'
import type { ReconnectingClient } from './reconnecting-client.ts'

interface ReconnectingReplyDependencies {
  client: ReconnectingClient
  store: ChatStore
  /** Returns the id of the current conversation and creates it if necessary. */
  ensureConversation: (connection: Connection) => Promise<string>
  /** Deletes the current conversation if it has no messages. */
  forgetEmptyConversation: () => Promise<void>
  /** Returns the id of the agent. */
  getAgent: () => string | undefined
  /** Returns the model that overrides the agent's model. */
  getModel: () => string | undefined
}

interface OutgoingMessage {
  message: string
  images: readonly AttachedImage[]
  /** Idempotency key. */
  key: string
  /** Whether the message was sent before and its reply failed. */
  retry: boolean
  /** Whether to replace the last message and its reply. */
  replace: boolean
}

/** Id of an agent. */
type AllowedAgents = 'all' | { agent: string }

type SendOptions = Partial<Pick<OutgoingMessage, 'images' | 'retry' | 'replace'>>

const RECONNECT_DELAY_MS = 250
/** Time for the service to store a stopped reply. */
const STORE_DELAY_MS = 300

export class ReconnectingReply {
  readonly #dependencies: ReconnectingReplyDependencies
  #abort: AbortController | undefined
  /** Conversation of the last reply. */
  #conversation: string | undefined
  /** Resolves when no reply is in progress. */
  done: Promise<void> = Promise.resolve()
  /** Ids of tools whose further calls are allowed, by all agents or by one. */
  readonly #allowedTools = new Map<string, AllowedAgents>()
  /** Called after each reply. */
  onEnd: () => void = () => {}

  constructor(dependencies: ReconnectingReplyDependencies) {
    this.#dependencies = dependencies
  }

  /** Resolves when the reply has ended. Does not throw: the transcript contains the outcome. */
  send(message: string, { images = [], retry = false, replace = false }: SendOptions = {}): Promise<void> {
    this.done = this.#run({ message, images, key: randomUUID(), retry, replace })
    return this.done
  }

  /** Follows a reply that is in progress. */
  join(reply: string): void {
    this.#dependencies.store.dispatch({ kind: 'joined', reply })
    this.done = this.#run(undefined)
  }

  async #run(outgoing: OutgoingMessage | undefined): Promise<void> {
    const { store, client, forgetEmptyConversation } = this.#dependencies
    const abort = new AbortController()
    this.#abort = abort
    try {
      while (!(await this.#follow(outgoing, abort.signal))) {
        client.markLost('The connection to the daemon was lost.')
        await sleep(RECONNECT_DELAY_MS, undefined, { signal: abort.signal })
      }
    } catch (error) {
      if (abort.signal.aborted) {
        store.dispatch({ kind: 'ended', status: 'aborted' })
        void this.#refreshStoppedReply()
      } else {
        store.dispatch({ kind: 'ended', status: 'failed', ...describeError(error) })
        await forgetEmptyConversation().catch(() => undefined) // only tidies up
      }
    } finally {
      if (this.#abort === abort) this.#abort = undefined
    }
    if (store.state.transcript.isAwaitingReply) store.dispatch({ kind: 'ended', status: 'interrupted' })
    this.onEnd()
  }

  /** Returns false if the connection is lost before the reply ends. */
  async #follow(outgoing: OutgoingMessage | undefined, signal: AbortSignal): Promise<boolean> {
    const { client, store, ensureConversation } = this.#dependencies
    try {
      const connection = await client.waitForConnection(signal)
      this.#conversation = await ensureConversation(connection)
      const request = this.#buildRequest(this.#conversation, outgoing)
      if (!request) return true
      const follow = (sent: ReplyRequest) => followReply(connection, sent, { signal })
      for await (const event of followWithRecognizedText(connection, request, follow, (text) => store.dispatch({ kind: 'noted', text }))) {
        client.markReachable()
        store.dispatch({ kind: 'event', event, at: store.now() })
        if (event.event === 'confirmation_required' && this.#isAllowed(event.data.tool_id)) void this.confirm(event.data.id, true)
      }
      return true
    } catch (error) {
      if (signal.aborted || !(error instanceof UnreachableError)) throw error
      return false
    }
  }

  /** Follows the reply after its last event if its id is known; otherwise sends the message. */
  #buildRequest(conversation: string, outgoing: OutgoingMessage | undefined): ReplyRequest | undefined {
    const { live } = this.#dependencies.store.state.transcript
    if (live?.id !== undefined) return { conversation, reply: live.id, after: live.lastEventId }
    const model = this.#dependencies.getModel()
    return outgoing && { conversation, ...outgoing, wait: true, model }
  }

  /** Disconnects from the reply, which stops it unless another client follows it. Returns false if none is in progress. */
  stop(): boolean {
    if (!this.#abort || this.#abort.signal.aborted) return false
    this.#abort.abort()
    return true
  }

  /** Loads the usage of a stopped reply for the status line. */
  async #refreshStoppedReply(): Promise<void> {
    const { client, store } = this.#dependencies
    const { dispatch } = store
    const reply = store.state.transcript.entries.findLast((entry) => entry.kind === 'reply')
    // Read before the delay: the user may switch to another conversation meanwhile.
    const id = this.#conversation
    if (reply?.id === undefined || id === undefined) return
    try {
      await sleep(STORE_DELAY_MS)
      const connection = await client.getConnection()
      const { data } = await call(connection, conversationRoutes.messages, { params: { id }, query: { limit: 2, order: 'desc' } })
      const message = data.find((candidate) => candidate.id === reply.id && candidate.finish_reason !== undefined)
      const { entries, isAwaitingReply } = store.state.transcript
      if (message && !isAwaitingReply && entries.some((entry) => entry.kind === 'reply' && entry.id === reply.id))
        dispatch({ kind: 'event', at: 0, event: { event: 'message_end', data: { message: { ...message, finish_reason: 'aborted' } } } })
    } catch {
      // optional: the next reply updates the status line as well
    }
  }

  /** Allows calls of a tool that wait or follow. The daemon reads stored permissions only before a reply starts. */
  allowTool(tool: string, agents: AllowedAgents): void {
    this.#allowedTools.set(tool, agents)
    for (const { id, toolId } of listPendingConfirmations(this.#dependencies.store.state.transcript))
      if (this.#isAllowed(toolId)) void this.confirm(id, true)
  }

  forgetAllowedTool(tool: string): void {
    this.#allowedTools.delete(tool)
  }

  #isAllowed(tool: string | undefined): boolean {
    const agents = this.#allowedTools.get(tool ?? '')
    return agents === 'all' || (agents !== undefined && agents.agent === this.#dependencies.getAgent())
  }

  /** Returns the request that a pending call of an API tool would send with other arguments. */
  async previewRequest(tool: string, changed: Record<string, unknown>): Promise<ToolCall['request']> {
    const { method, url } = (await this.#sendConfirmation({ tool_call_id: tool, arguments: changed })) ?? {}
    return method === undefined || url === undefined ? undefined : { method, url }
  }

  /** Allows or refuses a pending tool call, with other arguments if given. */
  async confirm(tool: string, allow: boolean, changed?: Record<string, unknown>): Promise<void> {
    const { store } = this.#dependencies
    store.dispatch({ kind: 'answered', tool, allow, at: store.now(), arguments: changed })
    try {
      await this.#sendConfirmation({ tool_call_id: tool, allow, arguments: changed })
    } catch (error) {
      store.dispatch({ kind: 'noted', tone: 'bad', text: `Cannot send the confirmation: ${describeError(error).error}` })
    }
  }

  /** Returns undefined if no reply is in progress. */
  async #sendConfirmation(body: NonNullable<RouteInput<typeof conversationRoutes.confirm>['body']>) {
    const { client, store, ensureConversation } = this.#dependencies
    const message_id = store.state.transcript.live?.id
    if (message_id === undefined) return undefined
    const connection = await client.getConnection()
    const id = await ensureConversation(connection)
    return (await call(connection, conversationRoutes.confirm, { params: { id, message_id }, body })).data
  }
}

/** Returns message and hint of an error for the transcript. */
export function describeError(error: unknown): { error: string; hint?: string } {
  const hint = error instanceof CadreError || error instanceof UnreachableError ? error.hint : undefined
  const details = error instanceof UsageError ? (error.details ?? []).map(({ field, problem }) => `\n  ${field}: ${problem}`).join('') : ''
  return {
    error: `${error instanceof Error ? error.message : String(error)}${details}`,
    ...(hint === undefined ? {} : { hint: rewriteCommands(hint) }),
  }
}
