/**
 * Asks the user of a client before a call. Clients of the 2026-07-28 revision ask their user and repeat the call with the answer and
 * the state of the question, which is valid once, for the same call of the same caller.
 */
import { createHash, randomUUID } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { CadreError } from '../../src/contract/errors.ts'
import type { Caller } from '../core/caller.ts'
import { createOneTimeTexts } from '../core/one-time-texts.ts'
import type { Database } from '../store/database.ts'
import type { McpTool } from './mcp-tool.ts'

const CONFIRMATION = 'confirmation'
const ANSWER_MS = 10 * 60_000
/** The calls that users were asked about. Each question is answered once. */
const confirmations = createOneTimeTexts({ table: 'mcp_confirmations', column: 'call', most: 1_000 })

/** Returns the question, or undefined if the user has confirmed this call. */
export async function requestConfirmation(
  database: Database,
  tool: McpTool,
  input: Record<string, unknown>,
  caller: Caller,
  { envelope, inputResponses, requestState }: ServerContext['mcpReq'],
): Promise<InputRequiredResult | undefined> {
  const meta = envelope as Record<string, unknown> | undefined
  const capabilities = meta?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
  if (!capabilities?.elicitation)
    throw new CadreError('FORBIDDEN', 'This tool requires confirmation, and this client cannot ask its user for it.', {
      hint: 'An admin can allow calls without confirmation: cadre tools allow NAME',
    })
  const call = computeFingerprint(tool, input, caller)
  const answer = inputResponse(inputResponses, CONFIRMATION)
  if (answer.kind === 'elicit') {
    const state = requestState()
    const confirmedCall = typeof state === 'string' ? await confirmations.take(database, state) : undefined
    if (answer.action !== 'accept') throw new CadreError('FORBIDDEN', 'The user did not confirm the call.')
    if (confirmedCall === call) return undefined
    // The answer is not to a question about this call.
  }
  const state = randomUUID()
  await confirmations.insert(database, state, call, Date.now() + ANSWER_MS)
  const message = `Call the tool "${tool.title}" with ${JSON.stringify(input)}?`
  const requestedSchema = { type: 'object' as const, properties: {} }
  return inputRequired({ inputRequests: { [CONFIRMATION]: inputRequired.elicit({ message, requestedSchema }) }, requestState: state })
}

const computeFingerprint = (
  { name, title, description, inputSchema }: McpTool,
  input: Record<string, unknown>,
  { tokenId }: Caller,
): string =>
  createHash('sha256')
    .update(JSON.stringify([tokenId, name, title, description, inputSchema, input]))
    .digest('hex')
