/** Builds the request of `tools import` and formats its response. */
import { boolean, integer, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import type { Static } from 'typebox'
import type { ApiToolImport, ApiToolImportResult } from '../../contract/families/api-tools.ts'
import { type InputReader, promptSecret, readTextFile, SECRET_VALUE } from '../input/input-reader.ts'
import { parsePair } from '../input/parse-pair.ts'
import { repeatable, splitWords } from '../input/repeatable-flags.ts'
import { paint } from '../terminal/color.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'

type ImportRequest = Static<typeof ApiToolImport>
type ImportResponse = Static<typeof ApiToolImportResult>

export const importFlags = {
  only: string({
    ...repeatable,
    description: 'Import only operations that match operationId, tag:name, /path or METHOD /path; * is a wildcard. Repeatable.',
    helpValue: '<a,b>',
  }),
  server: string({ description: 'Base URL to use instead of the one in the document.', helpValue: '<url>' }),
  'server-variable': string({
    ...repeatable,
    description: 'Value of a server variable. Repeatable.',
    helpValue: '<name=value>',
  }),
  prefix: string({ description: 'Prefix for the tool names.' }),
  bearer: string({ description: 'Bearer token for the tools.', helpValue: SECRET_VALUE }),
  'api-key': string({ description: 'API key for the tools.', helpValue: SECRET_VALUE }),
  basic: string({ description: 'User name for basic authentication.', helpValue: '<user>' }),
  password: string({ description: 'Password for --basic (default: prompt).', helpValue: SECRET_VALUE }),
  credential: string({
    ...repeatable,
    description: 'Credential for a security scheme of the document. Repeatable.',
    helpValue: '<scheme=secret|@file|env:NAME|->',
  }),
  'timeout-ms': integer({ description: 'Request timeout of the tools in milliseconds.', min: 100, max: 300_000 }),
  'allow-private-network': boolean({
    description: 'Allow addresses in the private network, also for the document. Admins only.',
  }),
  'requires-confirmation': boolean({
    allowNo: true,
    description: 'Require confirmation before each call of every tool (default: except GET).',
  }),
  deprecated: boolean({ description: 'Include deprecated operations and parameters.' }),
  update: boolean({ description: 'Update existing tools of the same name and server.' }),
  'dry-run': boolean({ description: 'Show what would be imported without importing it.' }),
}
type ImportFlags = InferredFlags<typeof importFlags>

export async function buildImportRequest(document: string, flags: ImportFlags, reader: InputReader): Promise<ImportRequest> {
  const credentials = await readCredentials(flags, reader)
  const variables = Object.fromEntries((flags['server-variable'] ?? []).map((text) => parsePair(text, '--server-variable')))
  const only = splitWords(flags.only ?? [])
  return {
    ...(await readDocument(document, reader)),
    ...(only.length > 0 ? { only } : {}),
    server: flags.server,
    ...(Object.keys(variables).length > 0 ? { server_variables: variables } : {}),
    prefix: flags.prefix,
    ...(Object.keys(credentials).length > 0 ? { credentials } : {}),
    timeout_ms: flags['timeout-ms'],
    ...(flags['allow-private-network'] ? { allow_private_network: true } : {}),
    requires_confirmation: flags['requires-confirmation'],
    ...(flags.deprecated ? { include_deprecated: true } : {}),
    ...(flags.update ? { update: true } : {}),
    ...(flags['dry-run'] ? { dry_run: true } : {}),
  }
}

/** URLs are fetched by the daemon, which checks outbound addresses; files and stdin are read here. */
async function readDocument(document: string, reader: InputReader): Promise<Pick<ImportRequest, 'document' | 'url'>> {
  if (/^https?:\/\//i.test(document)) return { url: document }
  const text = document === '-' ? (await reader.readStdin('The document')).toString('utf8') : await readTextFile(document)
  if (text.trim() === '') throw new UsageError(`${document === '-' ? 'Stdin' : document} is empty.`)
  return { document: text }
}

async function readCredentials(flags: ImportFlags, reader: InputReader): Promise<Record<string, string>> {
  const credentials: Record<string, string> = {}
  if (flags.bearer !== undefined) credentials.bearer = await reader.readSecret(flags.bearer, 'bearer')
  if (flags['api-key'] !== undefined) credentials.api_key = await reader.readSecret(flags['api-key'], 'api-key')
  if (flags.password !== undefined && flags.basic === undefined) throw new UsageError('--password requires --basic with a user name.')
  if (flags.basic !== undefined) credentials.basic = `${flags.basic}:${await readPassword(flags.basic, flags.password, reader)}`
  for (const text of flags.credential ?? []) {
    const [scheme, value] = parsePair(text, '--credential')
    credentials[scheme] = await reader.readSecret(value, `credential ${scheme}`)
  }
  return credentials
}

async function readPassword(user: string, password: string | undefined, reader: InputReader): Promise<string> {
  if (password !== undefined) return reader.readSecret(password, 'password')
  if (!process.stdin.isTTY)
    throw new UsageError(`--basic ${user} needs a password.`, 'Use --password -, --password @file or --password env:NAME.')
  return promptSecret(`Password of ${user}: `)
}

/** Prompts for the credentials that operations need and no flag sets; an empty answer skips one. */
export async function promptForCredentials({ security }: ImportResponse): Promise<Record<string, string>> {
  const credentials: Record<string, string> = {}
  for (const { scheme, kind, given, tools } of security) {
    if (given || kind === 'other') continue
    const label = kind === 'bearer' ? 'token' : kind === 'basic' ? 'user:password' : 'key'
    const value = (await promptSecret(`${label} for ${sanitizeLine(scheme)}, used by ${tools} of the tools (Enter to skip): `)).trim()
    if (value !== '') credentials[scheme] = value
  }
  return credentials
}

const ACTION_LABELS = {
  create: ['created', 'would create'],
  update: ['updated', 'would update'],
  keep: ['unchanged', 'unchanged'],
} as const

/** Formats the counts, skipped operations and notes of an import. */
export function formatImport({ title, tools, skipped }: ImportResponse, dryRun: boolean): string[] {
  const counted = (['create', 'update', 'keep'] as const).flatMap((action) => {
    const count = tools.filter((tool) => tool.action === action).length
    return count === 0 ? [] : [`${ACTION_LABELS[action][dryRun ? 1 : 0]} ${count}`]
  })
  const parts = [...(tools.length === 0 ? ['no tools'] : counted), ...(skipped.length > 0 ? [`skipped ${skipped.length}`] : [])]
  const lines = [`${title === '' ? '' : `${sanitizeLine(title)}: `}${parts.join(', ')}.`]
  for (const { operation, reason } of skipped) lines.push(`  ${paint('yellow', sanitizeLine(operation))}: ${sanitizeLine(reason)}`)
  const notes = new Map<string, string[]>()
  for (const tool of tools) for (const note of tool.notes) notes.set(note, [...(notes.get(note) ?? []), tool.name])
  for (const [note, names] of notes)
    lines.push(`  ${paint('yellow', names.length > 3 ? `${names.length} tools` : names.join(', '))}: ${sanitizeLine(note)}`)
  const [first] = tools
  if (first && !dryRun) {
    const name = quoteShellWord(first.name)
    lines.push(paint('dim', `Test a tool: cadre tools test ${name}. Add it to an agent: cadre agents update AGENT --add-tool ${name}`))
  }
  return lines
}
