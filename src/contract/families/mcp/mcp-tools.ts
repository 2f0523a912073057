/** MCP tools: approved tools of MCP servers. */
import { type Static, Type } from 'typebox'
import { createAction, createBody, createCrudRoutes, createFamily, idParams, updateBody } from '../../crud.ts'
import { route } from '../../route.ts'
import {
  createExample,
  flag,
  identifier,
  jsonObject,
  namedObject,
  nullable,
  optional,
  resource,
  resourceName,
  stringEnum,
  text,
} from '../../schemas/fields.ts'

/** Separates the name of the server from the name of the tool. */
export const NAME_SEPARATOR = '__'

const mcp_server_id = identifier('the MCP server')
const tool = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9_./-]+$',
  description: 'Name of the tool on the server.',
})
const name = {
  ...resourceName('MCP tool'),
  description: `Name of the MCP tool: always the name of the server, ${NAME_SEPARATOR} and the name of the tool.`,
} as ReturnType<typeof resourceName>
const description = text('Approved description. Models read this one, whatever the server says.', 10_000)
const parameters = jsonObject('Approved JSON Schema of the arguments, of type object.')
const requires_confirmation = flag(
  'Whether each call requires confirmation by the user. Only admins can set it to false. ' +
    'It is reset when the description, the parameters or the server change.',
  true,
)
const example = {
  mcp_server_id: 'mcp_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  tool: 'read_file',
  description: 'Read a file',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}

export const McpTool = resource(
  'MCP tool',
  { name, mcp_server_id, tool, description, parameters, requires_confirmation },
  {
    description: 'A tool of an MCP server with its approved definition.',
    examples: [createExample('mcpt', { name: 'files__read_file', ...example, requires_confirmation: true })],
  },
)
const settings = { name, description, parameters, requires_confirmation }
export const McpToolCreate = createBody('MCP tool', { mcp_server_id, tool }, settings, example)
export const McpToolUpdate = updateBody('MCP tool', { tool, ...settings }, { requires_confirmation: true })

export const mcpTools = createFamily({
  name: 'mcp-tools',
  noun: 'MCP tool',
  prefix: 'mcpt',
  resource: McpTool,
  create: McpToolCreate,
  update: McpToolUpdate,
  computedDefaults: ['name'],
})

const definition = namedObject('MCPToolDefinition', 'What models are told about a tool.', { description, parameters })
export type OfferedTool = Static<typeof OfferedTool>
const OfferedTool = namedObject('OfferedMCPTool', 'A tool that a server offers, or that was approved.', {
  tool: Type.String({ description: 'Name of the tool on the server.' }),
  state: stringEnum(['new', 'approved', 'changed', 'removed', 'unusable'], {
    description:
      'new: not approved; changed: differs from the approved definition and is not called; removed: approved, but no longer offered; ' +
      'unusable: see problem.',
  }),
  id: nullable(Type.String({ description: 'Identifier of the approved tool.' })),
  offered: nullable(definition),
  approved: nullable(definition),
  problem: nullable(Type.String({ description: 'Why the tool cannot be used.' })),
})
export const Discovery = namedObject('MCPDiscovery', 'The tools that a server offers now, compared with the approved ones.', {
  server: namedObject('MCPServerInformation', 'What a server says about itself.', {
    name: Type.String({ description: 'Name that the server gives itself.' }),
    version: Type.String({ description: 'Version of the server.' }),
    protocol_version: Type.String({ description: 'Revision of the protocol.' }),
  }),
  tools: Type.Array(OfferedTool, { description: 'Tools of the server.' }),
})

export const mcpToolRoutes = {
  ...createCrudRoutes(mcpTools, { read: 'read', change: 'write' }),
  discover: route({
    id: 'mcp-tools.discover',
    callsExternalService: true,
    family: 'mcp-tools',
    method: 'POST',
    path: '/mcp-servers/{id}/discover',
    summary: 'List the tools that an MCP server offers',
    description: 'Connects to the server, or starts it. To approve a tool, create it with the description and parameters returned here.',
    access: 'write',
    params: idParams('MCP server'),
    response: Discovery,
  }),
  test: route({
    ...createAction(mcpTools, 'test'),
    callsExternalService: true,
    summary: 'Test an MCP tool',
    access: 'write',
    body: namedObject('MCPToolTest', 'A test call of a tool.', optional({ arguments: jsonObject('Arguments of the tool call.') }), [
      { arguments: { path: 'notes.md' } },
    ]),
    response: namedObject('MCPToolTestResult', 'Result of the test call of a tool.', {
      result: nullable(Type.Unknown({ description: 'Text of the result, or its structured content.' })),
      latency_ms: Type.Number({ minimum: 0, description: 'Duration of the call, in milliseconds.' }),
    }),
  }),
}
