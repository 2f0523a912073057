/** Test fixture: a server on a real port with documents, and MCP clients of both generations of the SDK. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ROLES, type Role } from '../../src/contract/route.ts'
import { ConversationFixture } from '../conversations/conversation-fixture.ts'
import type { Resources } from '../harness/resources.ts'
import type { Json, TestServer, TestServerOptions } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

/** The 2026-07-28 revision, the handshake with the current SDK, and the handshake with its predecessor. */
export const GENERATIONS = ['2026-07-28', 'handshake', 'sdk 1'] as const
export type Generation = (typeof GENERATIONS)[number]

interface RequestOptions {
  signal?: AbortSignal
  onprogress?(progress: { progress: number; message?: string }): void
}

/** What both SDKs have in common. */
export interface McpClient {
  listTools(): Promise<{ tools: Json[] }>
  callTool(call: { name: string; arguments?: object }, options?: RequestOptions): Promise<Json>
  listResources(page?: { cursor?: string }): Promise<{ resources: Json[]; nextCursor?: string }>
  listResourceTemplates(): Promise<{ resourceTemplates: Json[] }>
  readResource(resource: { uri: string }): Promise<{ contents: Json[] }>
  listPrompts(): Promise<{ prompts: Json[] }>
  getPrompt(prompt: { name: string; arguments?: Record<string, string> }): Promise<Json>
  complete(request: object): Promise<{ completion: { values: string[] } }>
  getServerVersion(): Json
  close(): Promise<void>
}

export const DOCUMENTS = {
  'leave.md': '# Leave\n\nEvery employee gets twenty-five days of paid annual leave.\n\nUnused days expire in March.\n',
  'travel/hotels.md': '# Hotels\n\nA hotel in Lisbon may cost at most 140 euros per night.\n',
}

/** Both SDKs give up after a minute, in which a slow machine may not respond. */
export function disableTimeouts<C extends Client | EarlierClient>(client: C): C {
  return Object.assign(client, { _setupTimeout() {} })
}

export class McpFixture {
  readonly service: TestServer
  readonly resources: Resources
  readonly url: string
  readonly #clients: McpClient[] = []

  private constructor({ service, resources, url }: ConversationFixture) {
    this.service = service
    this.resources = resources
    this.url = url
  }

  static async open(options?: TestServerOptions): Promise<McpFixture> {
    return new McpFixture(await ConversationFixture.open(options))
  }

  async connect(generation: Generation = '2026-07-28', role: Role | (string & {}) = 'admin', capabilities = {}): Promise<McpClient> {
    const token = ROLES.includes(role as Role) ? await this.service.token(role as Role) : role
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    const url = new URL(`${this.url}/mcp`)
    const information = { name: 'test', version: '1' }
    let client: McpClient
    if (generation === 'sdk 1') {
      const earlier = disableTimeouts(new EarlierClient(information, { capabilities }))
      await earlier.connect(new EarlierTransport(url, { requestInit }) as never)
      // Its second argument is a schema.
      const callWithSchema = earlier.callTool.bind(earlier)
      const callTool: McpClient['callTool'] = (call, options) => callWithSchema(call as never, undefined, options as never)
      client = Object.assign(earlier, { callTool }) as unknown as McpClient
    } else {
      const mode = generation === 'handshake' ? 'legacy' : { pin: generation }
      const current = disableTimeouts(new Client(information, { capabilities, versionNegotiation: { mode } }))
      await current.connect(new StreamableHTTPClientTransport(url, { requestInit }))
      client = current as unknown as McpClient
    }
    this.#clients.push(client)
    return client
  }

  /** Creates a source whose documents can be read but not found. */
  async addUnindexedSource(name: string, documents: Record<string, string>): Promise<Json> {
    const source = await this.resources.source({ name })
    for (const [document, content] of Object.entries(documents)) await this.resources.document({ name: document, content }, source.id)
    return source
  }

  /** Creates a source and waits until its documents can be found. */
  async addSource(name: string, documents: Record<string, string> = DOCUMENTS): Promise<Json> {
    const source = await this.addUnindexedSource(name, documents)
    await this.service.post(`/knowledge-sources/${source.id}/sync`)
    return waitFor(async () => {
      const { data } = await this.service.get(`/knowledge-sources/${source.id}`)
      return data.status === 'active' ? data : undefined
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()))
    await this.service.close()
  }
}
