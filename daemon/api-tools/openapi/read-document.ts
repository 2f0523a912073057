/** Parses an OpenAPI document in JSON or YAML and rejects documents that are invalid, too large or too deep. */
import { parse } from 'yaml'
import { InvalidDocumentError, isObject, type JsonObject, toObject, toText } from './json.ts'

interface OpenApiDocument {
  root: JsonObject
  /** OpenAPI 3.0 has its own schema dialect; since 3.1, schemas are JSON Schema. */
  dialect: '3.0' | '3.1'
  title: string
}

const MAX_DEPTH = 200
const MAX_VALUES = 1_000_000
/** YAML aliases can expand a few lines to gigabytes. */
const MAX_ALIASES = 100
/** Checking for duplicate keys takes 25 % longer, and far longer for very many keys. */
const YAML_OPTIONS = { maxAliasCount: MAX_ALIASES, merge: true, uniqueKeys: false, logLevel: 'error' } as const

export function readDocument(text: string): OpenApiDocument {
  const root = parseDocument(text)
  if (!isObject(root)) throw new InvalidDocumentError('it is not an object')
  checkSize(root)
  const { openapi, swagger, info } = root
  if (swagger !== undefined)
    throw new InvalidDocumentError(`it is Swagger ${String(swagger).slice(0, 10)}, and only OpenAPI 3 is supported`, {
      hint: 'Convert it, for example with swagger2openapi.',
    })
  const openapiVersion = String(openapi ?? '').slice(0, 20)
  if (!/^3\.\d/.test(openapiVersion))
    throw new InvalidDocumentError(
      openapiVersion === '' ? 'the field openapi is missing' : `it is OpenAPI ${openapiVersion}, and only 3.0 and 3.1 are supported`,
    )
  const title = toText(toObject(info).title).slice(0, 200)
  return { root, dialect: openapiVersion.startsWith('3.0') ? '3.0' : '3.1', title }
}

function parseDocument(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return parseAs(() => parse(text, YAML_OPTIONS), 'YAML')
  try {
    return JSON.parse(text)
  } catch (error) {
    // YAML can start like JSON. If it is neither, the JSON error is the useful one.
    return parseAs(() => parse(text, YAML_OPTIONS), 'JSON', error as Error)
  }
}

function parseAs(read: () => unknown, kind: string, problem?: Error): unknown {
  try {
    return read()
  } catch (error) {
    throw new InvalidDocumentError(`it is not ${kind}: ${getFirstLine(problem ?? (error as Error))}`)
  }
}

const getFirstLine = ({ message }: Error): string => (message.split('\n', 1)[0] ?? '').slice(0, 200).replace(/:$/, '')

/** Counts aliased parts each time they occur; a part that contains itself exceeds the limits. */
function checkSize(root: unknown): void {
  let values = 0
  const walk = (value: unknown, depth: number): void => {
    if (depth > MAX_DEPTH) throw new InvalidDocumentError(`it nests deeper than ${MAX_DEPTH} levels`)
    if (++values > MAX_VALUES) throw new InvalidDocumentError(`it contains more than ${MAX_VALUES} values`)
    if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) walk(part, depth + 1)
  }
  walk(root, 0)
}
