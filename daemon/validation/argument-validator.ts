/** Validates the arguments of tools against their JSON Schema, within a time limit. */
import { type CadreError, createValidationError } from '../../src/contract/errors.ts'
import { suggestWord } from '../../src/contract/suggest.ts'
import { exceedsDepth } from './json-depth.ts'
import type { Validator } from './validator.ts'

type Check = (value: unknown) => CadreError | undefined
interface ToolParameters {
  id: string
  version: number
  parameters: Record<string, unknown>
}

/** Compiling a schema takes milliseconds, and agents call few tools often. */
const MAX_CACHED_CHECKS = 200
const MAX_DEPTH = 100

export class ArgumentValidator {
  readonly #validator: Validator
  readonly #cache = new Map<string, { version: number; check: Check }>()

  constructor(validator: Validator) {
    this.#validator = validator
  }

  /** Throws VALIDATION_ERROR. */
  validate(tool: ToolParameters, args: Record<string, unknown>): void {
    if (exceedsDepth(args, MAX_DEPTH)) throw createValidationError('arguments', `nests deeper than ${MAX_DEPTH} levels`)
    const problem = validateArgumentNames(tool.parameters, args) ?? this.#getCheck(tool)(args)
    if (problem) throw problem
  }

  #getCheck({ id, version, parameters }: ToolParameters): Check {
    const cached = this.#cache.get(id)
    if (cached?.version === version) return cached.check
    const check = this.#validator.forCustomSchema(parameters, 'arguments')
    this.#cache.delete(id)
    this.#cache.set(id, { version, check })
    if (this.#cache.size > MAX_CACHED_CHECKS) this.#cache.delete(this.#cache.keys().next().value as string)
    return check
  }
}

/** Keywords that can allow properties which `properties` does not list. */
const OPEN_KEYWORDS = [
  ...['additionalProperties', 'unevaluatedProperties', 'patternProperties', 'dependentSchemas', 'dependencies'],
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'if'],
]

/** JSON Schema allows undeclared properties by default; tool calls do not. */
function validateArgumentNames(parameters: Record<string, unknown>, args: Record<string, unknown>): CadreError | undefined {
  if (OPEN_KEYWORDS.some((keyword) => Object.hasOwn(parameters, keyword))) return undefined
  const known = Object.keys((parameters.properties ?? {}) as object)
  const name = Object.keys(args).find((argument) => !known.includes(argument))
  if (name === undefined) return undefined
  const suggestion = suggestWord(name, known)
  return createValidationError(
    `arguments.${name.slice(0, 100)}`,
    'is not an argument of this tool',
    suggestion
      ? `Did you mean "${suggestion}"?`
      : known.length > 0
        ? `Its arguments are ${known.slice(0, 30).join(', ')}.`
        : 'It takes no arguments; declare them in its parameters.',
  )
}
