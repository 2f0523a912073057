/** Whether a tool is offered to MCP clients. */
import { flag } from './fields.ts'

export const expose_mcp = flag(
  'Whether MCP clients, such as editors and coding agents, can call the tool. Their token needs the role for it.',
  false,
)
