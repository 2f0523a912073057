/** Whether a tool is offered to MCP clients. */
import { Type } from 'typebox'

export const expose_mcp = Type.Boolean({
  default: false,
  description: 'Whether MCP clients, such as editors and coding agents, can call the tool. Their token needs the role for it.',
})
