/** MCP servers: programs or URLs that offer tools through the Model Context Protocol. */
import { type Static, Type } from 'typebox'
import { createAction, createBody, createCrudRoutes, createFamily, updateBody } from '../../crud.ts'
import { route } from '../../route.ts'
import { authentication, bearerAuth, headers, noAuth, secret } from '../../schemas/auth.ts'
import {
  createExample,
  flag,
  httpUrl,
  integer,
  namedObject,
  nonEmptyText,
  nullable,
  optional,
  resource,
  stringEnum,
  text,
} from '../../schemas/fields.ts'

const name = Type.String({
  minLength: 1,
  maxLength: 40,
  // Without two underscores in a row, so that the name of a tool belongs to one server only.
  pattern: '^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$',
  description: 'Name of the MCP server: letters and digits, separated by - or _. The names of its tools begin with it.',
})
const settings = {
  description: text('Description of the MCP server.', 1_000),
  command: nullable(
    nonEmptyText("Program to run on the daemon's machine, which speaks MCP on stdin and stdout. Only admins can set it.", 1_000),
  ),
  args: Type.Array(Type.String({ maxLength: 4_000 }), {
    maxItems: 100,
    description: 'Arguments of the program. Only admins can set them.',
  }),
  url: nullable(httpUrl('URL of a server that speaks Streamable HTTP, instead of command.')),
  timeout_ms: integer('Time limit for starting the server and for each call, in milliseconds.', {
    minimum: 100,
    maximum: 300_000,
    default: 60_000,
  }),
  memory_mb: integer('Memory that the program and its child processes may use, in MB. It is ended when it uses more.', {
    minimum: 32,
    maximum: 65_536,
    default: 1_024,
  }),
  allow_private_network: flag('Whether the URL may be an address in a private network. Only admins can set it.', false),
}
const env = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 100,
  propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,199}$' },
  additionalProperties: { type: 'string', maxLength: 10_000, pattern: '^[^\\u0000]*$' },
  writeOnly: true,
  description: 'Environment variables of the program, in addition to PATH, HOME and the like. The values are write-only.',
})

const clientId = nonEmptyText('Identifier of the registered client. Default: register one.', 1_000)
const scope = nonEmptyText('Scopes to request, separated by spaces.', 1_000)
const oauth = namedObject('OAuthAuth', 'Authentication with OAuth 2.1; sign in with cadre tools login.', {
  type: Type.Literal('oauth'),
  ...optional({ client_id: clientId, client_secret: secret('Secret of the client.'), scope }),
})
const auth = authentication('Authentication at the URL. The values are write-only.', [noAuth, bearerAuth, oauth], {
  type: 'bearer',
  token: '<TOKEN>',
})
export interface McpServerSecrets {
  env: Record<string, string>
  headers: Record<string, string>
  auth: Static<typeof auth>
}

const example = { name: 'files', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/ada/notes'] }
const fields = {
  name,
  ...settings,
  env_names: Type.Array(Type.String(), { description: 'Names of the stored environment variables.' }),
  header_names: Type.Array(Type.String(), { description: 'Names of the stored headers.' }),
  auth: namedObject('MCPServerAuth', 'Authentication, without secret values.', {
    type: stringEnum(['none', 'bearer', 'oauth'], { description: 'Type of authentication.' }),
    ...optional({ client_id: clientId, scope }),
  }),
}
export const McpServer = resource('MCP server', fields, {
  description: 'A server that offers tools through the Model Context Protocol (MCP).',
  examples: [createExample('mcp', example, fields, { auth: { type: 'none' } })],
})
const writable = { ...settings, env, headers, auth }
export const McpServerCreate = createBody('MCP server', { name }, writable, example, ' It has either a command or a url.')
export const McpServerUpdate = updateBody(
  'MCP server',
  { name, ...writable },
  { timeout_ms: 5_000 },
  ' env and headers replace all existing values. If command, args or url change, secrets must be sent again, and all tools ask again.',
)

export const mcpServers = createFamily({
  name: 'mcp-servers',
  noun: 'MCP server',
  prefix: 'mcp',
  resource: McpServer,
  create: McpServerCreate,
  update: McpServerUpdate,
})

export const mcpServerRoutes = {
  ...createCrudRoutes(mcpServers, { read: 'read', change: 'write' }),
  authorize: route({
    ...createAction(mcpServers, 'authorize'),
    callsExternalService: true,
    summary: 'Start a sign-in at an MCP server',
    description: 'Starts the authorization code flow of OAuth 2.1 with PKCE. The user opens the URL in a browser.',
    access: 'write',
    body: namedObject(
      'MCPServerAuthorize',
      'Where to send the code.',
      {
        redirect_uri: Type.String({
          maxLength: 200,
          pattern: '^http://(127\\.0\\.0\\.1|localhost|\\[::1\\]):\\d{1,5}/',
          description: 'Loopback address to which the browser is redirected with the code.',
        }),
      },
      [{ redirect_uri: 'http://127.0.0.1:8976/callback' }],
    ),
    response: namedObject('MCPServerAuthorization', 'A started sign-in.', {
      authorization_url: nullable(Type.String({ description: 'URL to open in a browser; null if no sign-in is needed.' })),
      state: Type.String({ description: 'Value that the redirect contains.' }),
    }),
  }),
  token: route({
    ...createAction(mcpServers, 'token'),
    callsExternalService: true,
    summary: 'Finish a sign-in at an MCP server',
    description: 'Exchanges the code of the redirect for tokens, which are sealed in the vault and refreshed when they expire.',
    access: 'write',
    body: namedObject(
      'MCPServerToken',
      'Parameters of the redirect.',
      {
        code: secret('Code of the redirect.'),
        state: nonEmptyText('State of the redirect.', 200),
        ...optional({ iss: Type.String({ maxLength: 2_000, description: 'Issuer of the redirect, if it contains one.' }) }),
      },
      [{ code: '<CODE>', state: '<STATE>' }],
    ),
    response: McpServer,
  }),
}
