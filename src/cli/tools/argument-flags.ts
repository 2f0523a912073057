/** Reads the arguments of an API tool from flags; the tool's schema decides which values stay text. */

import { type InputReader, parseJson } from '../input/input-reader.ts'
import { parseScalar } from '../input/schema-flags.ts'
import { UsageError } from '../terminal/errors.ts'

type Arguments = Record<string, unknown>
type Parameters = Readonly<Record<string, unknown>>

interface ArgumentFlags {
  argument?: string[] | undefined
  arguments?: string | undefined
}

/** Validates the flags before connecting; the returned function applies the schema of the tool. */
export async function readArguments(flags: ArgumentFlags, reader: InputReader): Promise<(parameters: Parameters) => Arguments> {
  const whole = flags.arguments === undefined ? {} : await reader.readStructure(flags.arguments, 'arguments')
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) throw new UsageError('--arguments must be a JSON object.')
  const pairs = (flags.argument ?? []).map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw new UsageError(`--argument ${text} has no value.`, 'Write it as name=value, for example city=Lisbon.')
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
  return (parameters) => {
    const found = new Map<string, unknown>(Object.entries(whole))
    const given = new Map<string, string[]>()
    for (const [name, value] of pairs) given.set(name, [...(given.get(name) ?? []), value])
    for (const [name, values] of given) found.set(name, parseValue(name, values, getSchema(parameters, name)))
    return Object.fromEntries(found)
  }
}

interface Schema {
  type?: string | string[]
  items?: Schema
}

function getSchema({ properties }: Parameters, name: string): Schema {
  const all = (properties ?? {}) as Record<string, Schema>
  return Object.hasOwn(all, name) ? (all[name] ?? {}) : {}
}

/** A repeated argument, or one with an array schema, becomes a list. */
function parseValue(name: string, values: readonly string[], schema: Schema): unknown {
  const [first = ''] = values
  const types = [schema.type].flat()
  if (values.length === 1 && /^\s*[[{]/.test(first) && !types.includes('string')) return parseJson(first, `--argument ${name}`)
  if (types.includes('array')) return values.map((value) => parseScalar(value, schema.items ?? {}))
  return values.length > 1 ? values.map((value) => parseScalar(value, schema)) : parseScalar(first, schema)
}

function parseScalar(text: string, { type }: Schema): unknown {
  return [type].flat().includes('string') ? text : parseScalar(text)
}
