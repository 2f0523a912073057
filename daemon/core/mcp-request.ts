/** A request of an MCP client, independent of the HTTP server. */
import type { Caller } from './caller.ts'

export interface McpRequest {
  method: string
  /** Only the path is used. */
  url: string
  headers: Headers
  /** The parsed body. */
  body: unknown
  caller: Caller
  /** Aborts if the client disconnects. */
  signal: AbortSignal
  /** Resolves when the response is complete or the client has disconnected. */
  closed: Promise<void>
}
