/** Test fixture: the daemon's app with MCP servers that misbehave on request. */
import { fileURLToPath } from 'node:url'
import { expectData } from '../harness/expect.ts'
import { type Json, TestServer, type TestServerOptions } from '../harness/test-server.ts'

const SCRIPT = fileURLToPath(new URL('./servers/hostile.mjs', import.meta.url))
let count = 0

export class McpToolsFixture {
  readonly service: TestServer

  constructor(service: TestServer) {
    this.service = service
  }

  static open = async (options?: TestServerOptions) => new McpToolsFixture(await TestServer.start(options))

  close = () => this.service.close()

  /** `mode` is a behaviour of servers/hostile.mjs. */
  addServer = (mode: string, fields: object = {}): Promise<Json> =>
    expectData(
      this.service.post('/mcp-servers', {
        name: `s${++count}`,
        command: process.execPath,
        args: [SCRIPT, mode],
        timeout_ms: 300_000,
        ...fields,
      }),
      201,
    )

  discover = (id: string) => this.service.post(`/mcp-servers/${id}/discover`)

  /** Approves tools as they are offered, and returns their identifiers. */
  async approve(server: Json, ...names: string[]): Promise<string[]> {
    const { tools } = await expectData(this.discover(server.id))
    return Promise.all(
      names.map(async (name) => {
        const { tool, offered } = tools.find((found: Json) => found.tool === name)
        return (await expectData(this.service.post('/mcp-tools', { mcp_server_id: server.id, tool, ...offered }), 201)).id as string
      }),
    )
  }

  call = (id: string, args: object = {}) => this.service.post(`/mcp-tools/${id}/test`, { arguments: args })
}
