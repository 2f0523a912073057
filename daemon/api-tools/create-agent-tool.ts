/** Creates the agent's view of an API tool, with truncated responses. */
import { CadreError } from '../../src/contract/errors.ts'
import type { Tool, ToolContext } from '../core/tool.ts'
import { truncateValue } from '../core/truncate-value.ts'
import { buildRequest } from './build-request.ts'
import type { ApiToolResponse } from './parse-response.ts'
import type { StoredApiTool } from './store.ts'

export function createAgentTool(
  record: StoredApiTool,
  call: (input: Record<string, unknown>, signal: AbortSignal) => Promise<ApiToolResponse>,
): Tool {
  const { id, name, description, method, url, parameters, requires_confirmation } = record
  return {
    id,
    name,
    description: description || `Calls ${method} ${url}`,
    parameters,
    requiresConfirmation: requires_confirmation,
    describeRequest: (input) => ({ method, url: describeUrl(record, input) }),
    async run(input: Record<string, unknown>, { signal }: ToolContext) {
      const { status, body } = await call(input, signal)
      return { kind: 'value', value: { status, body: truncateValue(body) } }
    },
  }
}

/** Returns the URL without credentials. With invalid arguments, the URL with its placeholders. */
function describeUrl(record: StoredApiTool, input: Record<string, unknown>): string {
  try {
    return buildRequest(record, { headers: {}, auth: { type: 'none' } }, input).url.href
  } catch (error) {
    if (!(error instanceof CadreError)) throw error
    return record.url
  }
}
