/** From the text of an OpenAPI document to what it says, refused early where it is too large, too deep or none at all. */
import { parse } from 'yaml'
import { isObject, type JsonObject, objectOf, textOf, Unusable } from './json.ts'

export interface OpenApiDocument {
  root: JsonObject
  /** In 3.0 schemas are a dialect of their own; later they are JSON Schema. */
  dialect: '3.0' | '3.1'
  title: string
  version: string
}

const DEEPEST = 200
const MOST_VALUES = 1_000_000
/** How often the parts that YAML lets be repeated may be: a few lines can mean gigabytes. */
const MOST_ALIASES = 100
/** Looking for keys that stand there twice takes a quarter longer, and for ever where there are very many. */
const YAML = { maxAliasCount: MOST_ALIASES, merge: true, uniqueKeys: false, logLevel: 'error' } as const

export function readDocument(text: string): OpenApiDocument {
  const root = parsed(text)
  if (!isObject(root)) throw new Unusable('it holds no object')
  checkSize(root)
  const { openapi, swagger, info } = root
  if (swagger !== undefined)
    throw new Unusable(`it is Swagger ${String(swagger).slice(0, 10)}, and only OpenAPI 3 is read`, {
      hint: 'Convert it, for example with swagger2openapi.',
    })
  const said = String(openapi ?? '').slice(0, 20)
  if (!/^3\.\d/.test(said))
    throw new Unusable(said === '' ? 'it does not say openapi: 3…' : `it is OpenAPI ${said}, and only 3.0 and 3.1 are read`)
  const { title, version } = objectOf(info)
  return {
    root,
    dialect: said.startsWith('3.0') ? '3.0' : '3.1',
    title: textOf(title).slice(0, 200),
    version: String(version ?? '').slice(0, 50),
  }
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return attempt(() => parse(text, YAML), 'YAML')
  try {
    return JSON.parse(text)
  } catch (error) {
    // YAML may look like JSON at first; what is neither was meant to be JSON.
    return attempt(() => parse(text, YAML), 'JSON', error as Error)
  }
}

function attempt(read: () => unknown, kind: string, problem?: Error): unknown {
  try {
    return read()
  } catch (error) {
    throw new Unusable(`it is not ${kind}: ${firstLine(problem ?? (error as Error))}`)
  }
}

const firstLine = ({ message }: Error): string => (message.split('\n', 1)[0] ?? '').slice(0, 200).replace(/:$/, '')

/** Counts what is there as whoever walks it will: a part that is repeated counts each time, and one inside itself never ends. */
function checkSize(root: unknown): void {
  let values = 0
  const walk = (value: unknown, depth: number): void => {
    if (depth > DEEPEST) throw new Unusable(`it nests deeper than ${DEEPEST} levels`)
    if (++values > MOST_VALUES) throw new Unusable(`it holds more than ${MOST_VALUES} values`)
    if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) walk(part, depth + 1)
  }
  walk(root, 0)
}
