/** Builds the body of a new MCP server from the flags of `cadre tools add-mcp`. */
import { boolean, integer, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import type { Static } from 'typebox'
import type { McpServerCreate } from '../../../contract/families/mcp/mcp-servers.ts'
import { type InputReader, SECRET_VALUE } from '../../input/input-reader.ts'
import { parsePair } from '../../input/parse-pair.ts'
import { repeatable } from '../../input/repeatable-flags.ts'
import { UsageError } from '../../terminal/failures/command-errors.ts'

export const serverFlags = {
  url: string({ description: 'URL of a server that speaks Streamable HTTP, instead of a command.', helpValue: '<url>' }),
  env: string({
    ...repeatable,
    description: 'Environment variable of the command; without a value, it is taken from your shell. Repeatable.',
    helpValue: '<NAME[=secret|@file|env:NAME]>',
  }),
  header: string({
    ...repeatable,
    description: 'Header of the requests to the URL. Repeatable.',
    helpValue: '<name=secret|@file|env:NAME|->',
  }),
  bearer: string({ description: 'Bearer token for the URL.', helpValue: SECRET_VALUE }),
  oauth: boolean({ description: 'Sign in at the URL with OAuth, in a browser.' }),
  'client-id': string({ description: 'Identifier of a registered OAuth client. Default: register one.', dependsOn: ['oauth'] }),
  'client-secret': string({ description: 'Secret of the OAuth client.', helpValue: SECRET_VALUE, dependsOn: ['client-id'] }),
  scope: string({ description: 'OAuth scopes to request, separated by spaces.', dependsOn: ['oauth'] }),
  description: string({ description: 'Description of the server.' }),
  'timeout-ms': integer({ description: 'Time limit for starting and for each call, in milliseconds.', min: 100, max: 300_000 }),
  'memory-mb': integer({ description: 'Memory that the command may use, in MB.', min: 32, max: 65_536 }),
  'allow-private-network': boolean({ description: 'Allow a URL in the private network. Admins only.' }),
}
type ServerFlags = InferredFlags<typeof serverFlags>
type ServerBody = Static<typeof McpServerCreate>

export async function buildServer(name: string, words: readonly string[], flags: ServerFlags, reader: InputReader): Promise<ServerBody> {
  const [command, ...args] = words
  if ((command === undefined) === (flags.url === undefined))
    throw new UsageError(
      command === undefined ? 'The command or the URL of the server is missing.' : 'Use either a command or --url.',
      'For example: cadre tools add-mcp files -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
    )
  const env = await readPairs(flags.env ?? [], 'env', reader)
  const headers = await readPairs(flags.header ?? [], 'header', reader)
  return {
    name,
    ...(command === undefined ? { url: flags.url as string } : { command, args }),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(await readAuth(flags, reader)),
    description: flags.description,
    timeout_ms: flags['timeout-ms'],
    memory_mb: flags['memory-mb'],
    ...(flags['allow-private-network'] ? { allow_private_network: true } : {}),
  }
}

async function readPairs(texts: readonly string[], flag: string, reader: InputReader): Promise<Record<string, string>> {
  const entries: [string, string][] = []
  for (const text of texts) {
    const [name, value] = text.includes('=') || flag !== 'env' ? parsePair(text, `--${flag}`) : [text, `env:${text}`]
    entries.push([name, await reader.readSecret(value, flag)])
  }
  return Object.fromEntries(entries)
}

async function readAuth(flags: ServerFlags, reader: InputReader): Promise<Pick<ServerBody, 'auth'>> {
  if (flags.bearer !== undefined && flags.oauth) throw new UsageError('Use either --bearer or --oauth.')
  if (flags.bearer !== undefined) return { auth: { type: 'bearer', token: await reader.readSecret(flags.bearer, 'bearer') } }
  if (!flags.oauth) return {}
  const { 'client-id': client_id, 'client-secret': secret, scope } = flags
  return {
    auth: {
      type: 'oauth',
      client_id,
      ...(secret === undefined ? {} : { client_secret: await reader.readSecret(secret, 'client-secret') }),
      scope,
    },
  }
}
