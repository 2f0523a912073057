/** Reads the arguments of an API tool from flags; the tool's schema decides which values stay text. */
import { string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { type InputReader, isObject, parseJson } from '../input/input-reader.ts'
import { parsePair } from '../input/parse-pair.ts'
import { repeatable } from '../input/repeatable-flags.ts'
import { parseScalar } from '../input/schema-flags.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

type Arguments = Record<string, unknown>
type Parameters = Readonly<Record<string, unknown>>

export const argumentFlags = {
  argument: string({
    ...repeatable,
    char: 'a',
    description: 'Argument of the call. Repeatable; repeat a name for a list.',
    helpValue: '<name=value>',
  }),
  arguments: string({ description: 'Arguments as a JSON object.', helpValue: '<json|@file|->' }),
}
type ArgumentFlags = InferredFlags<typeof argumentFlags>

/** Validates the flags before connecting; the returned function applies the schema of the tool. */
export async function readArguments(flags: ArgumentFlags, reader: InputReader): Promise<(parameters: Parameters) => Arguments> {
  const json = flags.arguments === undefined ? {} : await reader.readStructure(flags.arguments, 'arguments')
  if (!isObject(json)) throw new UsageError('--arguments must be a JSON object.')
  const values = new Map<string, string[]>()
  for (const text of flags.argument ?? []) {
    const [name, value] = parsePair(text, '--argument', 'Use name=value, for example city=Lisbon.')
    values.set(name, [...(values.get(name) ?? []), value])
  }
  return (parameters) => {
    const parsed = Array.from(values, ([name, texts]) => [name, parseValue(name, texts, getSchema(parameters, name))] as const)
    return Object.fromEntries([...Object.entries(json), ...parsed])
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
function parseValue(name: string, texts: readonly string[], schema: Schema): unknown {
  const [first = ''] = texts
  const types = [schema.type].flat()
  if (texts.length === 1 && /^\s*[[{]/.test(first) && !types.includes('string')) return parseJson(first, `--argument ${name}`)
  const itemTypes = types.includes('array') ? [schema.items?.type].flat() : types
  const items = texts.map((text) => (itemTypes.includes('string') ? text : parseScalar(text)))
  return types.includes('array') || items.length > 1 ? items : items[0]
}
