/** Holds values against the contract's schemas, and says in a sentence what is wrong with them. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
import { CadreError } from '../src/contract/errors.ts'
import { suggest } from '../src/contract/suggest.ts'

const DAY = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z)?$/

/** Only the first problem is looked for: collecting all of them lets a hostile body make megabytes of errors. */
const strictly = { allErrors: false, verbose: true, discriminator: true, allowUnionTypes: true, strictRequired: false } as const

/** Schemas that callers bring are compiled, which takes time: this keeps it to milliseconds. */
const LARGEST_FOREIGN_SCHEMA = 50_000

export interface Validator {
  /** Bodies are taken as they are. */
  body(schema: TSchema): (value: unknown) => CadreError | undefined
  /** Paths and queries are text; numbers and booleans are read from it, in place. */
  text(schema: TSchema): (value: unknown) => CadreError | undefined
  /** Throws what is wrong with a value that is not a request's own. */
  check(schema: TSchema, value: unknown): void
  /** Whether a value is a JSON Schema; the problem, if it is not. */
  schemaProblem(value: object): string | undefined
}

export function createValidator(): Validator {
  const bodies = prepared(new Ajv(strictly))
  const texts = prepared(new Ajv({ ...strictly, coerceTypes: true }))
  const body = lazily(bodies)
  return {
    body,
    text: lazily(texts),
    check(schema, value) {
      const problem = body(schema)(value)
      if (problem) throw problem
    },
    schemaProblem(value) {
      // Which draft it says it follows does not matter here, and one that is not known would throw.
      const { $schema, ...schema } = value as { $schema?: unknown }
      if ($schema !== undefined && typeof $schema !== 'string') return 'parameters/$schema must be string'
      if (JSON.stringify(schema).length > LARGEST_FOREIGN_SCHEMA) return `parameters must be smaller than ${LARGEST_FOREIGN_SCHEMA} characters`
      // A definition is compiled once and not again wherever it is referred to: that made gigabytes of code out of a few kilobytes.
      const foreign = new Ajv({ strict: false, validateFormats: false, addUsedSchema: false, inlineRefs: false, code: { optimize: false }, logger: false })
      if (!foreign.validateSchema(schema)) return foreign.errorsText(foreign.errors, { dataVar: 'parameters' })
      try {
        foreign.compile(schema)
        return undefined
      } catch (error) {
        return (error as Error).message // a pattern or a reference that leads nowhere
      }
    },
  }
}

function prepared(ajv: Ajv): Ajv {
  addFormats.default(ajv)
  ajv.addFormat(
    'iso-date',
    (value: string) => DAY.test(value) && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString().slice(0, 10) === value.slice(0, 10),
  )
  return ajv
}

/** Schemas are compiled when they are first needed: all of them at once would be a third of the daemon's start. */
function lazily(ajv: Ajv): (schema: TSchema) => (value: unknown) => CadreError | undefined {
  const compiled = new Map<TSchema, ValidateFunction>()
  return (schema) => (value) => {
    const validate = compiled.get(schema) ?? ajv.compile(schema)
    compiled.set(schema, validate)
    return validate(value) ? undefined : explained(validate.errors ?? [])
  }
}

/** Of the errors of a choice, the one that got deepest says most. */
function explained(errors: ErrorObject[]): CadreError {
  const error = errors.reduce((best, next) => (depth(next) >= depth(best) ? next : best))
  const { field, problem, hint } = told(error)
  return new CadreError('VALIDATION_ERROR', field === '' ? `The request ${problem}.` : `${field}: ${problem}.`, { details: [{ field, problem }], hint })
}

const depth = (error: ErrorObject): number =>
  error.instancePath.split('/').length + (error.keyword === 'additionalProperties' || error.keyword === 'required' ? 1 : 0)

function told(error: ErrorObject): { field: string; problem: string; hint?: string | undefined } {
  const at = error.instancePath
    .slice(1)
    .split('/')
    .filter(Boolean)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const inside = (name: string) => shortened([...at, name].join('.'))
  const field = shortened(at.join('.'))
  const { params, parentSchema } = error as { params: Record<string, unknown>; parentSchema?: Record<string, unknown> }
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      const known = Object.keys((parentSchema?.properties as object | undefined) ?? {})
      const near = suggest(name, known)
      return {
        field: inside(name),
        problem: 'is not a known field',
        hint: near ? `Did you mean "${near}"?` : known.length > 0 ? `Known fields are ${listed(known)}.` : undefined,
      }
    }
    case 'required':
      return { field: inside(String(params.missingProperty)), problem: 'is required' }
    case 'enum': {
      const words = (params.allowedValues as unknown[]).filter((word) => word !== null).map(String)
      const near = suggest(String(error.data), words)
      return { field, problem: `must be one of ${listed(words)}`, hint: near ? `Did you mean "${near}"?` : undefined }
    }
    case 'discriminator': {
      const branches = (parentSchema?.oneOf as { properties: Record<string, { const?: string }> }[] | undefined) ?? []
      const words = branches.map((branch) => String(branch.properties[String(params.tag)]?.const))
      return { field: inside(String(params.tag)), problem: `must be one of ${listed(words)}` }
    }
    case 'type':
      return { field, problem: `must be ${[params.type].flat().join(' or ')}, not ${kindOf(error.data)}` }
    case 'pattern':
      return { field, problem: params.pattern === '\\S' ? 'must not be blank' : `must match ${String(params.pattern)}` }
    case 'minLength':
      return { field, problem: params.limit === 1 ? 'must not be empty' : `must have at least ${String(params.limit)} characters` }
    case 'format':
      return {
        field,
        problem:
          params.format === 'iso-date'
            ? 'must be a date such as 2026-01-31'
            : params.format === 'date-time'
              ? 'must be a time such as 2026-01-31T09:30:00Z'
              : `must be a ${String(params.format)}`,
      }
    case 'anyOf':
      return { field, problem: 'has none of the shapes it may have' }
    case 'minProperties':
      return { field, problem: 'must name at least one field' }
    default:
      return { field, problem: error.message ?? 'is not valid' }
  }
}

const listed = (words: readonly string[]) => (words.length > 30 ? `${words.slice(0, 30).join(', ')} and ${words.length - 30} more` : words.join(', '))
const kindOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
const shortened = (path: string) => (path.length > 120 ? `${path.slice(0, 119)}…` : path)
