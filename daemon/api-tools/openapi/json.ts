/** Looking into a document that others wrote: whatever is there instead of what should be counts as nothing. */

export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
/** A property of its own, not one that every object has. */
export const ownOf = (value: unknown, name: string): unknown => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined)

/** What no tool can be made of; the message says why. */
export class Inexpressible extends Error {}

/** The document as a whole cannot be imported in the way that was asked for; `field` says what of the request is to blame, if not the document. */
export class Unusable extends Error {
  readonly field: string | undefined
  readonly hint: string | undefined

  constructor(reason: string, { field, hint }: { field?: string; hint?: string | undefined } = {}) {
    super(reason)
    this.field = field
    this.hint = hint
  }
}
