/** Parses the response of an API: JSON or text in its character set; other content is rejected. */
import { TextDecoder } from 'node:util'
import { CadreError } from '../../src/contract/errors.ts'
import { decodeBytes, decodeWindows1252 } from '../core/decode-bytes.ts'
import type { OutboundResponse } from '../outbound/client.ts'
import { redactStrings } from '../secrets/redact-strings.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { exceedsDepth } from '../validation/json-depth.ts'

export interface ApiToolResponse {
  status: number
  headers: Record<string, string>
  /** A JSON value or a text; null if empty. */
  body: unknown
  latency_ms: number
}

export const MAX_RESPONSE_BYTES = 1024 * 1024
const MAX_JSON_DEPTH = 100
/** Content types that are never text; their bodies are not read. */
const BINARY_TYPES = /^(image\/(?!svg)|audio\/|video\/|font\/|application\/(zip|gzip|pdf|wasm)$)/

export const canBeText = (headers: Readonly<Record<string, string>>): boolean => !BINARY_TYPES.test(getMediaType(headers))

/** Throws PROVIDER_ERROR if the body is neither JSON nor text. */
export function parseBody({ headers, body, truncated, url }: OutboundResponse, redactor: Redactor): unknown {
  const type = getMediaType(headers)
  if (body.length === 0 && !truncated) return null
  const text = canBeText(headers) ? decodeText(body, type, getCharset(headers), truncated) : undefined
  if (text === undefined)
    throw new CadreError('PROVIDER_ERROR', `${new URL(url).host} responded with ${type || 'binary data'}, which is not text.`, {
      hint: 'API tools read JSON and text only.',
    })
  if (truncated) return `${redactor.redactTruncated(text)}\n[Truncated after ${MAX_RESPONSE_BYTES} bytes.]`
  const value = /[/+]json$/.test(type) || type === '' ? parseJson(text) : text
  return redactStrings(value, (part) => redactor.redactKnown(part))
}

/** Invalid JSON and JSON that nests too deeply to be serialized again are returned as text. */
function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return exceedsDepth(value, MAX_JSON_DEPTH) ? text : value
  } catch {
    return text
  }
}

const getMediaType = (headers: Readonly<Record<string, string>>): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
const getCharset = (headers: Readonly<Record<string, string>>): string | undefined =>
  /charset\s*=\s*"?([\w.:-]+)/i.exec(headers['content-type'] ?? '')?.[1]

/** Uses the declared character set, else UTF-8; other text is decoded as windows-1252, as browsers do. */
function decodeText(bytes: Uint8Array, type: string, charset: string | undefined, truncated: boolean): string | undefined {
  const declared = charset === undefined ? undefined : decodeDeclared(bytes, charset)
  if (declared !== undefined) return declared
  if (bytes.subarray(0, 8_192).includes(0)) return undefined
  try {
    // An incomplete character at the end of a truncated body is not an error.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: truncated })
  } catch {
    return type.startsWith('text/') ? decodeWindows1252(bytes) : undefined
  }
}

function decodeDeclared(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return decodeBytes(bytes, charset)
  } catch {
    return undefined // unknown character set
  }
}
