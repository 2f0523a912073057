import { CadreError } from '../../../src/contract/errors.ts'
import { describeCause } from '../describe-cause.ts'
import { isRemote } from '../lance.ts'

/** It goes away by itself. */
export class StorageUnreachableError extends CadreError {
  constructor(location: string, cause: unknown) {
    super('UNAVAILABLE', `The object storage at ${location} cannot be reached: ${describeCause(cause)}.`, {
      hint: 'Nothing was lost. Try again in a moment. If it persists, check the storage and AWS_ENDPOINT_URL.',
      cause,
      retryAfterSeconds: 1,
    })
  }
}

export const createMissingBucketError = (location: string) =>
  new CadreError('UNAVAILABLE', `The bucket of ${location} does not exist.`, { hint: 'Create it, or correct CADRE_STORAGE_URL.' })

export const createAccessError = (location: string, code: string) =>
  new CadreError('UNAVAILABLE', `The object storage at ${location} rejects the request: ${code}.`, {
    hint: 'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION. The keys must allow all operations.',
  })

export const createForeignStorageError = (location: string) =>
  new CadreError('UNAVAILABLE', `${location} holds the documents of another database.`, {
    hint: 'Choose another prefix, or the database that belongs to it (CADRE_DATABASE_URL).',
  })

export const createLocalDocumentsError = (location: string) =>
  new CadreError('UNAVAILABLE', `The documents of this database are not in ${location} but in the home.`, {
    hint: `Stop the daemon and copy them: cadre migrate --to-storage ${location}`,
  })

/** LanceDB reports failed requests only as text. */
export function translateLanceError(error: unknown, location: string): unknown {
  const message = error instanceof Error ? error.message : ''
  if (!isRemote(location) || error instanceof CadreError || !/Generic S3 error|error sending request|operation timed out/i.test(message))
    return error
  const reason = /HTTP error: [^,]+|non-2xx status code: \d+/.exec(message)?.[0] ?? 'a request failed'
  return new StorageUnreachableError(location, new Error(reason, { cause: undefined }))
}
