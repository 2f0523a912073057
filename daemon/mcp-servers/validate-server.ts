/** Checks that an MCP server has one target, and that only admins run commands and reach the private network. */
import { createValidationError } from '../../src/contract/errors.ts'
import { requireAdmin } from '../core/caller.ts'
import type { PrepareContext } from '../crud/resource.ts'
import { parseHttpUrl } from '../outbound/parse-url.ts'
import type { McpServerInput, StoredMcpServer } from './store.ts'

const COMMAND_FIELDS = ['command', 'args', 'memory_mb'] as const

/** `record` is the server after the change. */
export function validateServer(record: StoredMcpServer, input: McpServerInput, { caller, current }: PrepareContext<StoredMcpServer>): void {
  const { command, args, url } = record
  if ((command === null) === (url === null))
    throw createValidationError(
      command === null ? 'command' : 'url',
      command === null ? 'is required, or a url' : 'cannot be combined with command',
      'A server is either a command that Cadre runs, or a url.',
    )
  if (url !== null) {
    parseHttpUrl('url', url)
    if (args.length > 0) throw createValidationError('args', 'are for servers with a command')
    if (Object.keys(input.env ?? {}).length > 0) throw createValidationError('env', 'is for servers with a command')
  } else {
    const { type } = input.auth ?? current?.auth ?? { type: 'none' }
    if (type !== 'none') throw createValidationError('auth', 'is for servers with a url', 'Pass secrets to a command in env.')
    if (Object.keys(input.headers ?? {}).length > 0) throw createValidationError('headers', 'are for servers with a url')
  }
  if (command !== null && [command, ...args].some((word) => word.includes('\0')))
    throw createValidationError('command', 'must not contain a NUL character')
  // The values of env are sealed, so that sending them counts as a change.
  const isChanged =
    !current || input.env !== undefined || COMMAND_FIELDS.some((field) => JSON.stringify(record[field]) !== JSON.stringify(current[field]))
  if ((command !== null || (current !== undefined && current.command !== null)) && isChanged)
    requireAdmin(caller, 'run a command on the machine of the daemon')
  if (record.allow_private_network && (!current?.allow_private_network || current.url !== url))
    requireAdmin(caller, 'give an MCP server access to the private network')
}
