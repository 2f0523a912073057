/** The interface of a tool of the MCP server. */
import type { Static } from 'typebox'
import type { MCP_TOOLS, McpToolName } from '../../src/contract/mcp.ts'
import type { Access } from '../../src/contract/route.ts'
import type { Caller } from '../core/caller.ts'

export interface McpCall {
  caller: Caller
  signal: AbortSignal
  /** Tells the client what the tool does, if it wants to know. */
  report(message: string): void
}

export type ToolInput<Name extends McpToolName> = Static<(typeof MCP_TOOLS)[Name]['input']>

export interface McpResult {
  /** For the model. */
  text: string
  /** The same as data that matches the output schema. */
  data: Record<string, unknown>
}

export interface McpTool {
  name: string
  title: string
  description: string
  /** JSON Schemas of type object. */
  inputSchema: Record<string, unknown>
  outputSchema: Record<string, unknown>
  /** Roles that may call it. */
  access: Access
  isReadOnly: boolean
  /** Whether it reaches beyond the documents and models of this daemon. */
  callsOtherServers: boolean
  requiresConfirmation: boolean
  /** Validates the input. Throws CadreError if the call fails. */
  call(input: Record<string, unknown>, call: McpCall): Promise<McpResult>
}
