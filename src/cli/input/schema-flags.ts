/** Creates flags from a schema and reads a request body from them. */
import { boolean, string } from '@oclif/core/flags'
import type { Flag } from '@oclif/core/interfaces'
import type { TSchema } from 'typebox'
import { getFields, getScalarType } from '../../contract/schemas/fields.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { type Body, type InputReader, parseJson } from './input-reader.ts'
import { repeatable, splitWords } from './repeatable-flags.ts'

export type FlagSet = Record<string, Flag<unknown>>
export type FlagValues = Record<string, unknown>

type FieldKind = 'text' | 'long text' | 'secret' | 'number' | 'boolean' | 'list' | 'structures' | 'object'

export interface Field {
  name: string
  flag: string
  kind: FieldKind
  nullable: boolean
  required: boolean
  schema: FieldSchema
}

interface FieldSchema {
  type?: string | string[]
  description?: string
  enum?: unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
  default?: unknown
  writeOnly?: boolean
  items?: FieldSchema
  anyOf?: FieldSchema[]
  additionalProperties?: boolean | FieldSchema
  properties?: Record<string, unknown>
}

/** Fields that allow text this long can be read from files. */
const LONG_TEXT_LENGTH = 10_000

/** Flags accept the name or the ID of any reference. */
const describeReference = (description?: string) =>
  description?.replace(/^(Identifier|ID) of/, 'ID or name of').replace(', its unique name or', ', or')

/** References lose their _id suffix, since names are accepted too: --model. */
export function createFields(body: TSchema, references: Iterable<string> = []): Field[] {
  const required = new Set((body as { required?: string[] }).required ?? [])
  const referenceNames = new Set(references)
  return Object.entries(getFields(body)).map(([name, schema]) => {
    const details = schema as FieldSchema
    const nullable = [details.type].flat().includes('null') || details.anyOf?.some(({ type }) => type === 'null') === true
    const isReference = referenceNames.has(name)
    const shown = isReference ? { ...details, description: describeReference(details.description) ?? name } : details
    return {
      name,
      flag: toKebabCase(isReference ? toShortName(name) : name),
      kind: getFieldKind(schema),
      nullable,
      required: required.has(name),
      schema: shown,
    }
  })
}

const toKebabCase = (name: string) => name.replaceAll('_', '-')
const toShortName = (name: string) => name.replace(/_ids?$/, '').replace(/^tools$/, 'tool')

function getFieldKind(schema: TSchema): FieldKind {
  const details = schema as FieldSchema
  const scalar = getScalarType(schema)
  if (scalar === 'boolean') return 'boolean'
  if (scalar === 'number' || scalar === 'integer') return 'number'
  if (scalar === 'string') return details.writeOnly ? 'secret' : (details.maxLength ?? 0) >= LONG_TEXT_LENGTH ? 'long text' : 'text'
  if (![details.type].flat().includes('array')) return 'object'
  const items = [details.items ?? {}, ...(details.items?.anyOf ?? [])]
  return items.some(({ type }) => type === 'string') ? 'list' : 'structures'
}

const HELP_VALUES: Record<FieldKind, string> = {
  text: 'text',
  'long text': 'text|@file|-',
  secret: 'secret|@file|env:NAME|-',
  number: 'number',
  boolean: '',
  list: 'a,b',
  structures: 'json|@file|-',
  object: 'json|@file|key=value',
}

export function createFlags(fields: readonly Field[]): FlagSet {
  return Object.fromEntries(fields.map((field) => [field.flag, createFlag(field)]))
}

function createFlag({ name, flag, kind, nullable, required, schema }: Field): Flag<unknown> {
  const notes = [
    formatRange(schema),
    schema.default === undefined ? '' : `default: ${JSON.stringify(schema.default)}`,
    required ? 'required' : '',
    nullable && kind !== 'boolean' ? 'null to clear' : '',
  ].filter(Boolean)
  const description = `${schema.description ?? name}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`
  const spelling = toKebabCase(name)
  const aliases = spelling === flag ? {} : { aliases: [spelling] }
  if (kind === 'boolean') return boolean({ description, allowNo: true }) as Flag<unknown>
  const words = schema.enum?.map((value) => String(value))
  if (words) return string({ description, options: words, helpValue: words.join('|') }) as Flag<unknown>
  return string({
    description,
    helpValue: `<${HELP_VALUES[kind]}${kind === 'object' && listKnownKeys(schema).length > 0 ? ',key=value' : ''}>`,
    ...aliases,
    ...(kind === 'list' || kind === 'object' ? repeatable : {}),
  } as Parameters<typeof string>[0]) as Flag<unknown>
}

function formatRange({ minimum, maximum }: FieldSchema): string {
  const write = (value: number) => value.toLocaleString('en')
  if (minimum !== undefined && maximum !== undefined) return `${write(minimum)} to ${write(maximum)}`
  return minimum === undefined ? '' : `at least ${write(minimum)}`
}

/** Omits fields without a flag. */
export async function readBody(fields: readonly Field[], flags: FlagValues, reader: InputReader): Promise<Body> {
  const body: Body = {}
  for (const field of fields) {
    const value = flags[field.flag]
    if (value !== undefined) body[field.name] = await readField(field, value, reader)
  }
  return body
}

/** Their flags have no _id suffix. */
const isReference = ({ name, flag }: Field) => toKebabCase(name) !== flag

async function readField(field: Field, value: unknown, reader: InputReader): Promise<unknown> {
  const values = [value].flat() as string[]
  if (field.nullable && values.length === 1 && values[0] === 'null') return null
  if (field.kind === 'list') return (await Promise.all(values.map((item) => parseListItems(field, item)))).flat()
  if (field.kind === 'object') return readObject(field, values, reader)
  const [text] = values
  if (typeof text !== 'string') return value
  if (text.trim() === '' && isReference(field))
    throw new UsageError(`--${field.flag} needs a name or an ID.`, field.nullable ? `To clear it: --${field.flag} null` : undefined)
  if (field.kind === 'number') return readNumber(field, text)
  if (field.kind === 'long text') return reader.readValue(text, field.flag)
  if (field.kind === 'secret') return reader.readSecret(text, field.flag)
  return field.kind === 'structures' ? reader.readStructure(text, field.flag) : text
}

function readNumber({ flag, schema }: Field, text: string): number {
  const value = Number(text)
  const isInteger = [schema.type].flat().includes('integer')
  if (text.trim() === '' || !Number.isFinite(value) || (isInteger && !Number.isInteger(value)))
    throw new UsageError(`--${flag} must be a ${isInteger ? 'whole ' : ''}number, not "${text}".`)
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
  if (value < minimum || value > maximum) throw new UsageError(`--${flag} ${text} is out of range: ${formatRange(schema)}.`)
  return value
}

/** Accepts a JSON list, a JSON object or comma-separated words. `--tool ""` is an empty list. */
function parseListItems({ flag }: Field, text: string): unknown[] {
  if (/^\s*\[/.test(text)) return parseJson(text, `--${flag}`) as unknown[]
  if (/^\s*\{/.test(text)) return [parseJson(text, `--${flag}`)]
  return splitWords([text])
}

async function readObject({ flag, schema }: Field, values: string[], reader: InputReader): Promise<unknown> {
  const parts = await Promise.all(
    values
      .flatMap((text) => splitPairs(text, schema))
      .map(async (text) => {
        const pair = /^([^={}[\]"@\s][^={}[\]"\s]*)=(.*)$/s.exec(text)
        if (!pair) return reader.readStructure(text, flag)
        const textOnly = typeof schema.additionalProperties === 'object' && schema.additionalProperties.type === 'string'
        return { [pair[1] as string]: textOnly ? pair[2] : parseScalar(pair[2] as string) }
      }),
  )
  return parts.length === 1 ? parts[0] : Object.assign({}, ...parts)
}

/** Splits `input=3,output=15` if every part starts with a field of the object; other objects can have values with commas. */
function splitPairs(text: string, schema: FieldSchema): string[] {
  const known = listKnownKeys(schema)
  const pairs = text.split(',').map((pair) => pair.trim())
  return pairs.every((pair) => known.some((name) => pair.startsWith(`${name}=`))) ? pairs : [text]
}

function listKnownKeys({ properties, anyOf = [] }: FieldSchema): string[] {
  return [...Object.keys(properties ?? {}), ...anyOf.flatMap(listKnownKeys)]
}

/** Parses numbers, true, false and null; everything else is text. */
export function parseScalar(text: string): unknown {
  if (text === 'true' || text === 'false' || text === 'null' || /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text))
    return JSON.parse(text)
  return text
}
