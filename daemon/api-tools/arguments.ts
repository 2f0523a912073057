/** Whether arguments are what a tool's parameters say, asked in time that no schema can stretch. */
import { type CadreError, createValidationError } from '../../src/contract/errors.ts'
import { suggestWord } from '../../src/contract/suggest.ts'
import { nestsDeeper } from '../validation/json-depth.ts'
import type { Validator } from '../validation/validator.ts'
import type { StoredApiTool } from './store.ts'

type Check = (value: unknown) => CadreError | undefined
type Parameters = Pick<StoredApiTool, 'id' | 'version' | 'parameters'>

/** Compiled schemas that are kept: compiling one takes milliseconds, and an agent calls few tools often. */
const MOST_KEPT = 200
const DEEPEST = 100

export class ArgumentChecks {
  readonly #validator: Validator
  readonly #kept = new Map<string, { version: number; check: Check }>()

  constructor(validator: Validator) {
    this.#validator = validator
  }

  /** Throws VALIDATION_ERROR. */
  check(tool: Parameters, args: Record<string, unknown>): void {
    if (nestsDeeper(args, DEEPEST)) throw createValidationError('arguments', `nests deeper than ${DEEPEST} levels`)
    const problem = undeclared(tool.parameters, args) ?? this.#compiled(tool)(args)
    if (problem) throw problem
  }

  #compiled({ id, version, parameters }: Parameters): Check {
    const kept = this.#kept.get(id)
    if (kept?.version === version) return kept.check
    const check = this.#validator.foreign(parameters, 'arguments')
    this.#kept.delete(id)
    this.#kept.set(id, { version, check })
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value as string)
    return check
  }
}

/** Keywords by which a schema says something about properties that it does not list. */
const OPENING = [
  'additionalProperties',
  'unevaluatedProperties',
  'patternProperties',
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
  'dependencies',
]

/** JSON Schema lets in what it does not name; a call of which nobody said anything must not be made that way. */
function undeclared(parameters: Record<string, unknown>, args: Record<string, unknown>): CadreError | undefined {
  if (OPENING.some((keyword) => Object.hasOwn(parameters, keyword))) return undefined
  const known = Object.keys((parameters.properties ?? {}) as object)
  const name = Object.keys(args).find((argument) => !known.includes(argument))
  if (name === undefined) return undefined
  const near = suggestWord(name, known)
  return createValidationError(
    `arguments.${name.slice(0, 100)}`,
    'is no argument of this tool',
    near
      ? `Did you mean "${near}"?`
      : known.length > 0
        ? `Its arguments are ${known.slice(0, 30).join(', ')}.`
        : 'It takes none; those it should take belong into its parameters.',
  )
}
