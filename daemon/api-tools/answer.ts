/** What a server answered, as something that can be read: JSON parsed, text decoded, anything else refused. */
import { TextDecoder } from 'node:util'
import { CadreError } from '../../src/contract/errors.ts'
import type { OutboundAnswer } from '../outbound/client.ts'
import { nestsDeeper } from '../validation/json-depth.ts'

export interface ToolAnswer {
  status: number
  headers: Record<string, string>
  /** A JSON value or a text; null where there is none. */
  body: unknown
  latency_ms: number
}

/** More than this is read by nobody: neither a model nor a person at a terminal. */
export const MOST_BYTES = 1024 * 1024
const DEEPEST = 100
/** Kinds that are never text, and need not be read to know that. */
const NEVER_TEXT = /^(image\/(?!svg)|audio\/|video\/|font\/|application\/(zip|gzip|pdf|wasm)$)/

export const mayBeText = (headers: Readonly<Record<string, string>>): boolean => !NEVER_TEXT.test(mediaType(headers))

/** Throws PROVIDER_ERROR where it is neither JSON nor text. */
export function readableBody({ headers, body, truncated, url }: OutboundAnswer, hide: (text: string) => string): unknown {
  const type = mediaType(headers)
  if (body.length === 0 && !truncated) return null
  const text = mayBeText(headers) ? decoded(body, type, charsetOf(headers), truncated) : undefined
  if (text === undefined)
    throw new CadreError('PROVIDER_ERROR', `${new URL(url).host} answers ${type || 'bytes'}, which is not text.`, {
      hint: 'Tools read JSON and text only.',
    })
  const shown = hide(text)
  if (truncated) return `${shown}\n[The answer goes on beyond ${MOST_BYTES} bytes; it was cut here.]`
  return /[/+]json$/.test(type) || type === '' ? parsed(shown) : shown
}

/** Servers call text JSON that is none; then it is text. So is what nests so deep that nobody could write it again. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return nestsDeeper(value, DEEPEST) ? text : value
  } catch {
    return text
  }
}

const mediaType = (headers: Readonly<Record<string, string>>): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
const charsetOf = (headers: Readonly<Record<string, string>>): string | undefined =>
  /charset\s*=\s*"?([\w.:-]+)/i.exec(headers['content-type'] ?? '')?.[1]

/** By the character set that is named, else UTF-8; text of old servers that is not UTF-8 is what the web takes it for. */
function decoded(bytes: Uint8Array, type: string, charset: string | undefined, truncated: boolean): string | undefined {
  const named = decoderOf(charset)
  if (named) return named.decode(bytes)
  if (bytes.subarray(0, 8_192).includes(0)) return undefined
  try {
    // A character that was cut in two at the end is not an error.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: truncated })
  } catch {
    return type.startsWith('text/') ? new TextDecoder('windows-1252').decode(bytes) : undefined
  }
}

function decoderOf(charset: string | undefined): TextDecoder | undefined {
  try {
    return charset === undefined ? undefined : new TextDecoder(charset)
  } catch {
    return undefined // a name that nobody knows says nothing
  }
}
