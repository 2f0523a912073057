/** Lists the tools of a server, cleaned and within limits. */
import type { Client, Tool } from '@modelcontextprotocol/client'
import { CadreError } from '../../../src/contract/errors.ts'
import { createDeadlineSignal } from '../../../src/deadline.ts'
import { exceedsDepth } from '../../validation/json-depth.ts'
import { cleanText, cleanValue } from './clean-text.ts'
import { formatServerText } from './server-error.ts'

const MAX_TOOLS = 500
const MAX_DESCRIPTION_LENGTH = 10_000
const MAX_SCHEMA_DEPTH = 50
const MAX_SCHEMA_LENGTH = 50_000
const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/

interface ListedTool {
  /** Escaped if it is not a valid name. */
  tool: string
  description: string
  parameters: Record<string, unknown>
  /** Why the tool cannot be used. */
  problem: string | undefined
}

export interface ToolListing {
  server: { name: string; version: string; protocol_version: string }
  tools: ListedTool[]
}

export async function listTools(client: Client, timeoutMs: number): Promise<ToolListing> {
  const { name = '', version = '' } = client.getServerVersion() ?? {}
  const server = {
    name: formatServerText(name),
    version: formatServerText(version),
    protocol_version: formatServerText(client.getNegotiatedProtocolVersion() ?? ''),
  }
  if (client.getServerCapabilities()?.tools === undefined) return { server, tools: [] }
  const tools = await listAllPages(client, timeoutMs)
  if (tools.length > MAX_TOOLS)
    throw new CadreError('PROVIDER_ERROR', `It offers ${tools.length} tools; at most ${MAX_TOOLS} are supported.`)
  const names = new Set<string>()
  return {
    server,
    tools: tools.map(({ name: tool, description = '', inputSchema }) => {
      const problem = names.has(tool) ? 'another tool has the same name' : validateToolSchema(tool, inputSchema)
      names.add(tool)
      return {
        tool: TOOL_NAME.test(tool) ? tool : JSON.stringify(formatServerText(tool).slice(0, 128)),
        description: cutText(cleanText(description).trim(), MAX_DESCRIPTION_LENGTH),
        parameters: problem === undefined ? (cleanValue(inputSchema) as Record<string, unknown>) : {},
        problem,
      }
    }),
  }
}

/** The time limit of a request applies to each page. */
async function listAllPages(client: Client, timeoutMs: number): Promise<Tool[]> {
  const signal = createDeadlineSignal(2 * timeoutMs)
  try {
    return (await client.listTools(undefined, { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal, cacheMode: 'refresh' })).tools
  } catch (error) {
    if (!signal.aborted) throw error
    throw new CadreError('PROVIDER_TIMEOUT', `It did not list its tools within ${2 * timeoutMs} ms.`, { cause: error })
  }
}

function validateToolSchema(tool: string, schema: object): string | undefined {
  if (!TOOL_NAME.test(tool)) return 'its name contains other characters than letters, digits, _, -, . and /, or is too long'
  if (exceedsDepth(schema, MAX_SCHEMA_DEPTH)) return `its parameters nest deeper than ${MAX_SCHEMA_DEPTH} levels`
  return JSON.stringify(schema).length > MAX_SCHEMA_LENGTH ? `its parameters are longer than ${MAX_SCHEMA_LENGTH} characters` : undefined
}

const cutText = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
