/** The HTTP headers of an MCP message, which repeat parts of it. */
import { omitUndefined } from '../../omit-undefined.ts'

export interface McpMessage {
  jsonrpc?: unknown
  id?: unknown
  method?: string
  params?: Record<string, unknown> & { _meta?: Record<string, unknown> }
  result?: { protocolVersion?: string }
  error?: unknown
}

/** What a client that began with a handshake repeats in later messages. */
export interface McpSession {
  id: string | undefined
  version: string | undefined
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
/** The parameter that the header Mcp-Name repeats. */
const NAMES: Record<string, string> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' }

export function createMcpHeaders(message: McpMessage, session: McpSession): Record<string, string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const { method = '', params } = message ?? {}
  const version = params?._meta?.[VERSION_KEY]
  if (typeof version === 'string') {
    const name = params?.[NAMES[method] ?? '']
    return {
      ...headers,
      'mcp-protocol-version': encodeHeader(version),
      'mcp-method': encodeHeader(method),
      ...(typeof name === 'string' ? { 'mcp-name': encodeHeader(name) } : {}),
    }
  }
  return { ...headers, ...omitUndefined({ 'mcp-session-id': session.id, 'mcp-protocol-version': session.version }) }
}

/** Headers contain only visible ASCII characters and spaces inside. Other text is encoded as the specification says. */
function encodeHeader(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}
