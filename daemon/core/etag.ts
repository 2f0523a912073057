/** Entity tags of resources, for If-Match and If-None-Match. */
import { hash } from 'node:crypto'
import { CadreError } from '../../src/contract/errors.ts'

/**
 * Serializes the data of a response once, for its body and its ETag. The tag does not depend on the order of the fields, which
 * differs between a record that was created and one that was read, nor on a secret that only this response contains.
 */
export function serializeWithEtag(view: object, secretField?: string): { json: string; etag: string } {
  if (secretField !== undefined) return serializeFields(view, secretField)
  const json = JSON.stringify(view)
  let etag = etags.get(json)
  if (etag === undefined) {
    etag = Array.isArray(view) ? formatEtag(json) : serializeFields(view).etag
    if (json.length <= MAX_CACHED_LENGTH) cacheEtag(json, etag)
  }
  return { json, etag }
}

/** Tags of the latest bodies: the same resource is often read many times. */
const etags = new Map<string, string>()
const MAX_CACHED_ETAGS = 500
const MAX_CACHED_LENGTH = 4_096

function cacheEtag(json: string, etag: string): void {
  if (etags.size >= MAX_CACHED_ETAGS) etags.clear()
  etags.set(json, etag)
}

function serializeFields(view: object, secretField?: string): { json: string; etag: string } {
  const fields: string[] = []
  const taggedFields: string[] = []
  for (const [name, value] of Object.entries(view)) {
    const text: string | undefined = JSON.stringify(value)
    if (text === undefined) continue
    const field = `${JSON.stringify(name)}:${text}`
    fields.push(field)
    if (name !== secretField) taggedFields.push(field)
  }
  return { json: `{${fields.join(',')}}`, etag: formatEtag(taggedFields.sort().join(',')) }
}

const formatEtag = (text: string): string => `"${hash('sha1', text, 'base64url')}"`

/** Whether one of the comma-separated tags of If-None-Match is this one. A weak tag matches too. */
export const matchesEtag = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.trim() === '*' || listTags(ifNoneMatch).some((tag) => tag.replace(/^W\//, '') === etag)

/** Throws PRECONDITION_FAILED unless one of the comma-separated tags of If-Match matches one of the equivalent views. */
export function requireMatchingEtag(noun: string, ifMatch: string | undefined, ...views: object[]): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  const tags = listTags(ifMatch)
  if (!views.some((view) => tags.includes(serializeWithEtag(view).etag))) throw createStaleVersionError('PRECONDITION_FAILED', noun)
}

const listTags = (header: string): string[] => header.split(',').map((tag) => tag.trim())

/** PRECONDITION_FAILED if the client named a version with If-Match, otherwise CONFLICT. */
export function createStaleVersionError(code: 'PRECONDITION_FAILED' | 'CONFLICT', noun: string): CadreError {
  return new CadreError(code, `The ${noun} was changed since you read it.`, { hint: 'Read it again and repeat your change.' })
}
