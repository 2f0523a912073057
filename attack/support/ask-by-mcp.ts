/** Asks an agent with an MCP client and returns what the client sees. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

export async function askByMcp(url: string, token: string, question: { agent: string; question: string }): Promise<string> {
  const client = new Client({ name: 'attack', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  try {
    return JSON.stringify(await client.callTool({ name: 'ask', arguments: question }))
  } finally {
    await client.close()
  }
}
