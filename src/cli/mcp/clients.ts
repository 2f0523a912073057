/** MCP clients: where each keeps its configuration, and how it describes a server. */
import { homedir } from 'node:os'
import { join } from 'node:path'

/** How a client starts the server. */
export interface StdioServer {
  command: string
  args: string[]
  env?: Record<string, string>
}

interface HttpServer {
  url: string
  headers: Record<string, string>
}

export interface McpClient {
  title: string
  /** The property that contains the servers. */
  property: string
  /** The file for all projects of the user. */
  getUserFile(): string
  /** The file for one project, if the client has one. */
  projectFile?: string
  describe(server: StdioServer): object
  describeHttp(server: HttpServer): object
  /** What to do afterwards. */
  note: string
}

/** The folder in which programs with a graphical interface keep their settings. */
function getApplicationFolder(): string {
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support')
  return process.platform === 'win32' ? join(homedir(), 'AppData', 'Roaming') : join(homedir(), '.config')
}

const inHome = (...path: string[]) => join(homedir(), ...path)
const restart = (title: string) => `Restart ${title} to use it.`

/** The common format, which has no type. */
const plain = {
  property: 'mcpServers',
  describe: (server: StdioServer) => server,
  describeHttp: (server: HttpServer) => server,
}
const typed = {
  describe: (server: StdioServer) => ({ type: 'stdio', ...server }),
  describeHttp: (server: HttpServer) => ({ type: 'http', ...server }),
}

export const MCP_CLIENTS = {
  claude: {
    ...plain,
    ...typed,
    title: 'Claude Code',
    getUserFile: () => inHome('.claude.json'),
    projectFile: '.mcp.json',
    note: 'To check it in Claude Code: /mcp',
  },
  'claude-desktop': {
    ...plain,
    title: 'Claude Desktop',
    getUserFile: () => join(getApplicationFolder(), 'Claude', 'claude_desktop_config.json'),
    note: restart('Claude Desktop'),
  },
  cursor: {
    ...plain,
    title: 'Cursor',
    getUserFile: () => inHome('.cursor', 'mcp.json'),
    projectFile: '.cursor/mcp.json',
    note: restart('Cursor'),
  },
  gemini: {
    ...plain,
    describeHttp: ({ url, headers }: HttpServer) => ({ httpUrl: url, headers }),
    title: 'Gemini CLI',
    getUserFile: () => inHome('.gemini', 'settings.json'),
    projectFile: '.gemini/settings.json',
    note: 'To check it in Gemini CLI: /mcp',
  },
  opencode: {
    title: 'opencode',
    property: 'mcp',
    getUserFile: () => inHome('.config', 'opencode', 'opencode.json'),
    projectFile: 'opencode.json',
    describe: ({ command, args, env }: StdioServer) => ({
      type: 'local',
      command: [command, ...args],
      enabled: true,
      environment: env,
    }),
    describeHttp: (server: HttpServer) => ({ type: 'remote', ...server, enabled: true }),
    note: restart('opencode'),
  },
  vscode: {
    ...typed,
    title: 'VS Code',
    property: 'servers',
    getUserFile: () => join(getApplicationFolder(), 'Code', 'User', 'mcp.json'),
    projectFile: '.vscode/mcp.json',
    note: 'To start it in VS Code: MCP: List Servers',
  },
  windsurf: {
    ...plain,
    describeHttp: ({ url, headers }: HttpServer) => ({ serverUrl: url, headers }),
    title: 'Windsurf',
    getUserFile: () => inHome('.codeium', 'windsurf', 'mcp_config.json'),
    note: restart('Windsurf'),
  },
  zed: {
    ...plain,
    title: 'Zed',
    property: 'context_servers',
    getUserFile: () => inHome('.config', 'zed', 'settings.json'),
    projectFile: '.zed/settings.json',
    note: 'To check it in Zed: agent: open settings',
  },
} as const satisfies Record<string, McpClient>

export type McpClientName = keyof typeof MCP_CLIENTS
export const MCP_CLIENT_NAMES = Object.keys(MCP_CLIENTS) as McpClientName[]
