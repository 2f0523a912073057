/** Builds the request of `cadre api` from its arguments and flags, like `gh api`. */
import { string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import type { ClientRequest } from '../../client/request.ts'
import { METHODS } from '../../contract/route.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import type { InputReader } from './input-reader.ts'
import { parsePair } from './parse-pair.ts'
import { repeatable } from './repeatable-flags.ts'
import { parseScalar } from './schema-flags.ts'

export const requestFlags = {
  'raw-field': string({ ...repeatable, char: 'f', description: 'Add a string field.', helpValue: '<key=value>' }),
  field: string({
    ...repeatable,
    char: 'F',
    description: 'Add a typed field: a number, true, false, null or JSON; @file and - read a file or stdin.',
    helpValue: '<key=value>',
  }),
  header: string({ ...repeatable, char: 'H', description: 'Add a request header.', helpValue: '<name: value>' }),
  input: string({ description: 'Read the request body from a file or stdin.', helpValue: '<file|->' }),
}

/** Parses METHOD PATH or PATH; the default method is POST with a body and GET without. */
function parseMethodAndPath(first: string, second: string | undefined, sends: boolean): { method: string; path: string } {
  if (second === undefined) return { method: sends ? 'POST' : 'GET', path: normalizePath(first) }
  const method = first.toUpperCase()
  if (!METHODS.some((known) => known === method))
    throw new UsageError(`"${first}" is not an HTTP method.`, `Use one of ${METHODS.join(', ')}.`)
  return { method, path: normalizePath(second) }
}

/** Paths of the OpenAI-compatible API. Others below /v1 are those of /api/v1. */
const OPENAI_PATH = /^\/v1\/(models|chat|responses|embeddings)(\/|\?|$)/

/** Adds /api if it is missing. Full URLs are rejected so that the token is never sent to another host. */
function normalizePath(text: string): string {
  if (text === '' || METHODS.some((method) => method === text.toUpperCase()))
    throw new UsageError('The path is missing.', 'For example: cadre api GET /agents')
  if (/^[a-z]+:\/\//i.test(text)) throw new UsageError('Expected a path, not a URL.', 'To call another server, set CADRE_URL.')
  const path = `/${text.replace(/^\/+/, '')}`
  return /^\/(api|docs)(\/|\?|$)/.test(path) || OPENAI_PATH.test(path) ? path : `/api${path}`
}

export async function buildApiRequest(
  first: string,
  second: string | undefined,
  flags: InferredFlags<typeof requestFlags>,
  reader: InputReader,
): Promise<ClientRequest> {
  const typed = new Map((flags.field ?? []).map((text) => parsePair(text, '-F')))
  const fields: Record<string, unknown> = Object.fromEntries([
    ...(flags['raw-field'] ?? []).map((text) => parsePair(text, '-f')),
    ...(await Promise.all(Array.from(typed, async ([name, text]) => [name, await readField(text, reader)] as const))),
  ])
  const count = Object.keys(fields).length
  const { method, path } = parseMethodAndPath(first, second, count > 0 || flags.input !== undefined)
  const headers = Object.fromEntries((flags.header ?? []).map(parseHeader))
  const inBody = method !== 'GET' && method !== 'DELETE' && flags.input === undefined
  const body =
    flags.input === undefined ? (inBody && count > 0 ? JSON.stringify(fields) : undefined) : await reader.readFile(flags.input, '--input')
  const query = new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]))
  const search = inBody || count === 0 ? '' : `${path.includes('?') ? '&' : '?'}${query}`
  return {
    method,
    path: `${path}${search}`,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body }),
  }
}

/** Parses numbers, booleans, null and JSON; reads @file and -. */
async function readField(text: string, reader: InputReader): Promise<unknown> {
  if (text === '-' || text.startsWith('@')) return reader.readValue(text, 'field')
  return /^[[{]/.test(text) ? reader.readStructure(text, 'field') : parseScalar(text)
}

function parseHeader(text: string): [string, string] {
  const index = text.indexOf(':')
  if (index < 1) throw new UsageError(`-H ${text} is not a header.`, "Use 'name: value'.")
  return [text.slice(0, index).trim().toLowerCase(), text.slice(index + 1).trim()]
}
