/** Finds the bucket that the settings name, and the keys for it. */
import { environmentOverrides, type Paths, readSettings } from '../../src/config.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { parseStorageUrl, takeStorageKeys } from '../../src/storage-settings.ts'

const DEFAULT_CACHE_MEGABYTES = 10_240

/** Undefined if documents are in the home. The flag comes first, then the environment, then config.json. */
export function resolveStorage(paths: Paths, flag: string | undefined) {
  const url = resolveUrl(paths, flag)
  return url === undefined ? undefined : { url, ...readKeys(url) }
}

/** The storage that is copied, and the one to copy to. Both have the same keys. */
export function resolveStorages(paths: Paths, flag: string | undefined, target: string | undefined) {
  const source = resolveUrl(paths, flag)
  const needed = source ?? target
  if (needed === undefined) return {}
  const keys = readKeys(needed)
  return {
    source: source === undefined ? undefined : { url: source, ...keys },
    target: target === undefined ? undefined : { url: target, ...keys },
  }
}

function resolveUrl(paths: Paths, flag: string | undefined): string | undefined {
  const stored = readSettings(paths)['storage-url']
  const { storageUrl } = environmentOverrides()
  return flag ?? storageUrl ?? (stored === undefined ? undefined : parseStorageUrl(stored, `storage-url in ${paths.settings}`))
}

function readKeys(url: string) {
  const { cacheMegabytes = DEFAULT_CACHE_MEGABYTES } = environmentOverrides()
  const { accessKeyId, secretAccessKey, endpoint, ...rest } = takeStorageKeys()
  if (endpoint !== undefined && (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)))
    throw new CadreError('UNAVAILABLE', `AWS_ENDPOINT_URL must be a URL such as https://s3.example.com, not "${endpoint}".`)
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new CadreError('UNAVAILABLE', `The keys for the object storage ${url} are missing.`, {
      hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL if it is not on AWS.',
    })
  return { endpoint, ...rest, accessKeyId, secretAccessKey, cacheBytes: cacheMegabytes * 1024 ** 2 }
}
