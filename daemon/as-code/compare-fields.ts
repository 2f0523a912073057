/** Compares the stored fields of a resource with its declared ones. */
import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import type { ApplyResult } from '../../src/contract/families/as-code.ts'
import type { Fields } from './kinds.ts'

type FieldChange = Static<typeof ApplyResult>['changes'][number]['fields'][number]

export function compareFields(names: readonly string[], from: Fields, to: Fields): FieldChange[] {
  return names
    .filter((field) => !isDeepStrictEqual(from[field], to[field]))
    .map((field) => ({ field, ...(field in from ? { from: from[field] } : {}), ...(field in to ? { to: to[field] } : {}) }))
}
