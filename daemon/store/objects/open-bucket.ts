/** Opens a bucket for the documents and vectors of a database. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../database.ts'
import type { LanceOptions } from '../lance.ts'
import { VECTORS_FOLDER, VectorStore } from '../vector-store.ts'
import { BucketOriginals } from './bucket-originals.ts'
import { claimBucket } from './bucket-owner.ts'
import { DiskCache } from './disk-cache.ts'
import { S3Client, type StorageAddress } from './s3-client.ts'

export interface Storage extends StorageAddress {
  /** Maximum size of the copies on the local disk. */
  cacheBytes: number
  /** LanceDB Cloud or Enterprise for the vectors. */
  vectors?: ({ url: string; apiKey: string } & Pick<LanceOptions, 'region' | 'hostOverride'>) | undefined
}

/** Seconds after which queries of a table without a copy look for commits of other daemons. */
const CONSISTENCY_INTERVAL = 1
/** LanceDB would repeat a failed request for minutes. */
const LANCE_LIMITS = { client_max_retries: '3', client_retry_timeout: '10', connect_timeout: '3s', timeout: '60s' }

/** Throws if the bucket cannot be used, or belongs to another database. */
export async function openBucket(storage: Storage, database: Database, cacheFolder: string, exactRows?: number) {
  const client = new S3Client(storage)
  await client.measureLatency()
  await claimBucket(client, database)
  await mkdir(join(cacheFolder, VECTORS_FOLDER), { recursive: true, mode: 0o700 })
  const cache = await DiskCache.open(cacheFolder, storage.cacheBytes)
  const originals = new BucketOriginals(client, cache, database)
  if (storage.vectors) {
    const { url, ...lance } = storage.vectors
    return { originals, vectors: new VectorStore(url, exactRows, { lance }) }
  }
  const lance = { storageOptions: formatLanceOptions(storage), readConsistencyInterval: CONSISTENCY_INTERVAL }
  const vectors = new VectorStore(`${storage.url}/${VECTORS_FOLDER}`, exactRows, { lance, bucket: { client, cache } })
  return { originals, vectors }
}

export function formatLanceOptions(address: StorageAddress): Record<string, string> {
  const { endpoint, region, accessKeyId, secretAccessKey, sessionToken } = address
  return {
    ...LANCE_LIMITS,
    aws_region: region,
    aws_access_key_id: accessKeyId,
    aws_secret_access_key: secretAccessKey,
    ...(sessionToken === undefined ? {} : { aws_session_token: sessionToken }),
    ...(endpoint === undefined ? {} : { endpoint, allow_http: String(endpoint.startsWith('http:')) }),
  }
}
