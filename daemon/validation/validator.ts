/** Validates values against schemas and explains the first problem in one sentence. */
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { isCurrency } from '../../src/contract/schemas/currency.ts'
import { suggestWord } from '../../src/contract/suggest.ts'
import { CpuTimeLimitError, createCpuTimeLimiter } from '../async/cpu-time-limit.ts'

const ISO_DATE = /^\d{4}-\d\d-\d\d(T([01]\d|2[0-3]):\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/**
 * Stops at the first problem: collecting all of them lets a hostile body produce megabytes of errors.
 * The contract's schemas are checked by tests. Checking them here and optimizing the generated code doubles the time for
 * which the first requests block the event loop.
 */
const AJV_OPTIONS = {
  allErrors: false,
  verbose: true,
  discriminator: true,
  allowUnionTypes: true,
  strictRequired: false,
  meta: false,
  validateSchema: false,
  code: { optimize: false },
} as const

/** Limits the time it takes to compile a schema from a client to milliseconds. */
const MAX_CUSTOM_SCHEMA_LENGTH = 50_000
/** A longer pattern can exhaust the memory of the process on first use, which a time limit does not prevent. */
const MAX_CUSTOM_PATTERN_LENGTH = 1_000
/** Patterns and references can take exponential time. A typical check takes less than a millisecond. */
const CUSTOM_CHECK_TIMEOUT_MS = 100
const COSTLY_KEYWORDS = /"(pattern|patternProperties|\$ref|\$dynamicRef|\$recursiveRef|uniqueItems)":/
/** Without these keywords a check compares each part of the value with each part of the schema at most once: milliseconds of work. */
const MAX_UNTIMED_WORK = 50_000_000

export interface Validator {
  /** For JSON bodies: no coercion. */
  forBody(schema: TSchema): (value: unknown) => CadreError | undefined
  /** For paths and queries: converts text to numbers and booleans in place. */
  forText(schema: TSchema): (value: unknown) => CadreError | undefined
  /** Throws if the value does not match the schema. */
  check(schema: TSchema, value: unknown): void
  /** Describes why a value is not a valid JSON Schema. */
  validateSchema(value: object): string | undefined
  /** Compiles a client's schema, which must have passed `validateSchema`. Errors refer to the value as `name`. */
  forCustomSchema(schema: object, name: string): (value: unknown) => CadreError | undefined
}

export function createValidator(): Validator {
  const within = createCpuTimeLimiter()
  /** Cached: loading the meta-schema takes longer than compiling a schema. */
  let meta: Ajv | undefined
  return {
    forBody: compileForBody,
    forText: (schema) => rejectInfinity(compileForText(schema)),
    check(schema, value) {
      const problem = compileForBody(schema)(value)
      if (problem) throw problem
    },
    validateSchema(value) {
      const { $schema, ...schema } = value as { $schema?: unknown }
      if ($schema !== undefined && typeof $schema !== 'string') return 'parameters/$schema must be string'
      if (JSON.stringify(schema).length > MAX_CUSTOM_SCHEMA_LENGTH)
        return `parameters must be smaller than ${MAX_CUSTOM_SCHEMA_LENGTH} characters`
      meta ??= new Ajv({ strict: false, verbose: true, validateFormats: false, logger: false })
      if (!meta.validateSchema(schema)) return meta.errorsText(meta.errors, { dataVar: 'parameters' })
      try {
        createCustomAjv().compile(schema)
        return undefined
      } catch (error) {
        return (error as Error).message // an invalid pattern or an unresolvable reference
      }
    },
    forCustomSchema(value, name) {
      const { $schema: _, ...schema } = value as { $schema?: unknown }
      const validate = createCustomAjv().compile(schema)
      const text = JSON.stringify(schema)
      const limited = (value: unknown) => COSTLY_KEYWORDS.test(text) || text.length * JSON.stringify(value).length > MAX_UNTIMED_WORK
      return (value) => {
        try {
          return (limited(value) ? within(CUSTOM_CHECK_TIMEOUT_MS, () => validate(value)) : validate(value))
            ? undefined
            : toValidationError(validate.errors ?? [], name)
        } catch (error) {
          if (!(error instanceof CpuTimeLimitError || error instanceof RangeError)) throw error
          const hint = 'A pattern or reference in the schema is too expensive.'
          return Object.assign(createValidationError(name, 'cannot be validated in reasonable time', hint), { cause: error })
        }
      }
    },
  }
}

/**
 * Callers remove `$schema`, because Ajv throws on unknown drafts. References are not inlined: inlining turned schemas of a
 * few kilobytes into gigabytes of code.
 */
function createCustomAjv(): Ajv {
  return new Ajv({
    strict: false,
    verbose: true,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    addUsedSchema: false,
    inlineRefs: false,
    code: { optimize: false, regExp: compilePattern },
    logger: false,
  })
}

const compilePattern = Object.assign(
  (pattern: string, flags: string): RegExp => {
    if (pattern.length > MAX_CUSTOM_PATTERN_LENGTH) throw new Error(`a pattern is longer than ${MAX_CUSTOM_PATTERN_LENGTH} characters`)
    return new RegExp(pattern, flags)
  },
  // Ajv emits this expression in generated code.
  { code: 'new RegExp' },
)

function addFormatsTo(ajv: Ajv): Ajv {
  addFormats.default(ajv)
  ajv.addFormat(
    'iso-date',
    (value: string) => ISO_DATE.test(value) && !Number.isNaN(Date.parse(value)) && isCalendarDay(value.slice(0, 10)),
  )
  ajv.addFormat('currency', isCurrency)
  return ajv
}

/** Rejects February 30, which Date.parse accepts as March 2. */
const isCalendarDay = (day: string): boolean => new Date(day).toISOString().startsWith(day)

/** Ajv 8 converts "Infinity" and "1e400" to infinite numbers, for which it checks neither the type nor the limits. */
const rejectInfinity =
  (check: (value: unknown) => CadreError | undefined) =>
  (value: unknown): CadreError | undefined => {
    const problem = check(value)
    if (problem) return problem
    const [name] = Object.entries(value as object).find(([, field]) => typeof field === 'number' && !Number.isFinite(field)) ?? []
    return name === undefined ? undefined : createValidationError(name, 'must be a finite number')
  }

/** Schemas are compiled when they are first needed: compiling all of them would take a third of the daemon's startup time. */
function compileLazily(options: Options): (schema: TSchema) => (value: unknown) => CadreError | undefined {
  const compiled = new Map<TSchema, ValidateFunction>()
  let ajv: Ajv | undefined
  return (schema) => (value) => {
    ajv ??= addFormatsTo(new Ajv(options))
    const validate = compiled.get(schema) ?? ajv.compile(schema)
    compiled.set(schema, validate)
    return validate(value) ? undefined : toValidationError(validate.errors ?? [])
  }
}

/** All validators of a process share them: the schemas of the contract do not change. */
const compileForBody = compileLazily(AJV_OPTIONS)
const compileForText = compileLazily({ ...AJV_OPTIONS, coerceTypes: true })

/**
 * Picks the most specific error of a union: the deepest one, in the alternative that knows most of the sent fields. An enum
 * error at the same place is preferred, because it lists the accepted values.
 */
function toValidationError(errors: ErrorObject[], within = ''): CadreError {
  const deepest = errors.reduce((best, next) =>
    (getDepth(next) - getDepth(best) || countKnownFields(next) - countKnownFields(best)) >= 0 ? next : best,
  )
  const word = deepest.keyword === 'anyOf' && typeof deepest.data === 'string'
  const error = (word && errors.find(({ keyword, instancePath }) => keyword === 'enum' && instancePath === deepest.instancePath)) || deepest
  const { field: inside, problem, hint } = describeError(error)
  const field = [within, inside].filter(Boolean).join('.')
  return new CadreError('VALIDATION_ERROR', field === '' ? `The request ${problem}.` : `${field}: ${problem}.`, {
    details: [{ field, problem }],
    hint,
  })
}

const getDepth = (error: ErrorObject): number =>
  error.instancePath.split('/').length + (error.keyword === 'additionalProperties' || error.keyword === 'required' ? 1 : 0)

/** Counts how many of the present fields the schema knows, to pick the closest alternative of a union. */
function countKnownFields({ keyword, data, parentSchema }: ErrorObject): number {
  if (keyword !== 'additionalProperties' && keyword !== 'required') return Number.MAX_SAFE_INTEGER
  const fields = (parentSchema?.properties as object | undefined) ?? {}
  return Object.keys(data as object).filter((name) => Object.hasOwn(fields, name)).length
}

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  currency: 'currency such as EUR or USD (ISO 4217)',
  'iso-date': 'date such as 2026-01-31',
  'date-time': 'time such as 2026-01-31T09:30:00Z',
}

function describeError(error: ErrorObject): { field: string; problem: string; hint?: string | undefined } {
  const at = error.instancePath
    .slice(1)
    .split('/')
    .filter(Boolean)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const inside = (name: string) => shorten([...at, name].join('.'))
  const field = shorten(at.join('.'))
  const { params, parentSchema } = error as { params: Record<string, unknown>; parentSchema?: Record<string, unknown> }
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      const known = Object.keys((parentSchema?.properties as object | undefined) ?? {})
      const near = suggestWord(name, known)
      return {
        field: inside(name),
        problem: 'is not a known field',
        hint: near ? `Did you mean "${near}"?` : known.length > 0 ? `Known fields are ${joinWords(known)}.` : undefined,
      }
    }
    case 'required': {
      const name = String(params.missingProperty)
      return { field: inside(name), problem: 'is required', hint: suggestMissingField(name, error.data, parentSchema) }
    }
    case 'enum': {
      const words = (params.allowedValues as unknown[]).filter((word) => word !== null).map(String)
      const near = suggestWord(String(error.data), words)
      return { field, problem: `must be one of ${joinWords(words)}`, hint: near ? `Did you mean "${near}"?` : undefined }
    }
    case 'discriminator': {
      const branches = (parentSchema?.oneOf as { properties: Record<string, { const?: string }> }[] | undefined) ?? []
      const words = branches.map((branch) => String(branch.properties[String(params.tag)]?.const))
      return { field: inside(String(params.tag)), problem: `must be one of ${joinWords(words)}` }
    }
    case 'type':
      return { field, problem: `must be ${[params.type].flat().join(' or ')}, not ${describeType(error.data)}` }
    case 'pattern':
      return { field, problem: params.pattern === '\\S' ? 'must not be blank' : `must match ${String(params.pattern)}` }
    case 'minLength':
      return { field, problem: params.limit === 1 ? 'must not be empty' : `must have at least ${String(params.limit)} characters` }
    case 'format':
      return { field, problem: `must be a ${FORMAT_NAMES[String(params.format)] ?? String(params.format)}` }
    case 'anyOf':
      return { field, problem: 'matches none of the accepted forms' }
    case 'minProperties':
      return { field, problem: 'must name at least one field' }
    default:
      return { field, problem: error.message ?? 'is not valid' }
  }
}

/** Only the first problem is reported, but a misspelled required field is two: a missing field and an unknown one. */
function suggestMissingField(missing: string, value: unknown, schema: Record<string, unknown> | undefined): string | undefined {
  const known = (schema?.properties as object | undefined) ?? {}
  const strange = Object.keys(value as object).find((name) => !Object.hasOwn(known, name) && suggestWord(name, [missing]) !== undefined)
  return strange === undefined ? undefined : `"${shorten(strange)}" is not a known field. Did you mean "${missing}"?`
}

const joinWords = (words: readonly string[]) =>
  words.length > 30 ? `${words.slice(0, 30).join(', ')} and ${words.length - 30} more` : words.join(', ')
const describeType = (value: unknown) =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'array'
      : value === Infinity || value === -Infinity
        ? 'a number this large'
        : typeof value
const shorten = (path: string) => (path.length > 120 ? `${path.slice(0, 119)}…` : path)
