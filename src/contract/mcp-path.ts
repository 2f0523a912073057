/** The path of the MCP server, without the schemas of its tools, which `cadre mcp` does not need. */

export const MCP_PATH = '/mcp'
