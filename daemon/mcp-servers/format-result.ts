/** Converts the result of an MCP tool to a text or a JSON value. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import { CadreError } from '../../src/contract/errors.ts'
import { exceedsDepth } from '../validation/json-depth.ts'

const MAX_ERROR_LENGTH = 2_000
const MAX_DEPTH = 100

type Block = CallToolResult['content'][number]

/** Throws PROVIDER_ERROR if the tool failed. */
export function formatResult(serverName: string, { content = [], structuredContent, isError }: CallToolResult): unknown {
  const text = content.map(formatBlock).join('\n')
  if (isError) throw new CadreError('PROVIDER_ERROR', text.slice(0, MAX_ERROR_LENGTH) || `The tool of "${serverName}" failed.`)
  if (text !== '' || structuredContent === undefined) return text
  if (exceedsDepth(structuredContent, MAX_DEPTH))
    throw new CadreError('PROVIDER_ERROR', `The result of "${serverName}" nests deeper than ${MAX_DEPTH} levels.`)
  return structuredContent
}

/** Models read text only; other content is named. */
function formatBlock(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type} of type ${block.mimeType}, not shown]`
    case 'resource_link':
      return `[${block.name}: ${block.uri}]`
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource ${block.resource.uri}, not shown]`
    default:
      return '[content of an unknown type, not shown]'
  }
}
