/** Sends a tool call to /mcp without an SDK, as a client that does not follow the protocol would. */
import type { Json } from '../harness/test-server.ts'

interface ToolCall {
  url: string
  token: string
  name: string
  arguments: object
  capabilities?: object
  /** Further parameters, such as inputResponses and requestState. */
  more?: object
}

/** An answer to the question whether a tool may be called. */
export const ACCEPTED = { inputResponses: { confirmation: { action: 'accept', content: {} } } }

/** Returns the result of the call. */
export async function sendToolCall({ url, token, name, more, capabilities = { elicitation: {} }, ...call }: ToolCall): Promise<Json> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'attacker', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const params = { name, arguments: call.arguments, _meta, ...more }
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const text = await response.text()
  return JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text).result
}
