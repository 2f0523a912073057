/** Reads untrusted JSON: values of an unexpected type count as empty. */

export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
export const toObject = (value: unknown): JsonObject => (isObject(value) ? value : {})
export const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const toText = (value: unknown): string => (typeof value === 'string' ? value : '')
/** Ignores inherited properties. */
export const getOwn = (value: unknown, name: string): unknown => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined)

/** The operation cannot become a tool. */
export class UnsupportedOperationError extends Error {}

/** The document cannot be imported; `field` names the request field at fault if it is not the document. */
export class InvalidDocumentError extends Error {
  readonly field: string | undefined
  readonly hint: string | undefined

  constructor(reason: string, { field, hint }: { field?: string; hint?: string | undefined } = {}) {
    super(reason)
    this.field = field
    this.hint = hint
  }
}
