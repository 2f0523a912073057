/** The storage of a test server: folders in its home, or a prefix of the bucket that the runner started. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ORIGINALS_PREFIX } from '../../../daemon/store/objects/bucket-originals.ts'
import type { Storage } from '../../../daemon/store/objects/open-bucket.ts'
import { S3Client } from '../../../daemon/store/objects/s3-client.ts'
import type { Paths } from '../../../src/config.ts'
import { BUCKET } from './start-object-store.ts'

const { CADRE_TEST_STORAGE_ADDRESS: address } = process.env
export const isInBucket = address !== undefined
const CACHE_BYTES = 1024 ** 3

/** A home keeps its prefix over restarts. Returns undefined if documents are in the home. */
export function getTestStorage({ home }: Paths): Storage | undefined {
  if (address === undefined) return undefined
  const prefix = createHash('sha256').update(home).digest('hex').slice(0, 16)
  return { ...(JSON.parse(address) as Storage), url: `s3://${BUCKET}/${prefix}`, cacheBytes: CACHE_BYTES }
}

/** The originals of documents, by their content hash. In a bucket, the name may also have the number of earlier removals. */
export async function listOriginals(paths: Paths): Promise<Map<string, () => Promise<Buffer>>> {
  const storage = getTestStorage(paths)
  const found = new Map<string, () => Promise<Buffer>>()
  if (!storage) {
    for (const entry of readdirSync(paths.documents, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) found.set(entry.name, async () => readFileSync(join(entry.parentPath, entry.name)))
    return found
  }
  const client = new S3Client(storage)
  for await (const { key } of client.list(ORIGINALS_PREFIX)) {
    const [contentHash = ''] = key.slice(key.lastIndexOf('/') + 1).split('.')
    found.set(contentHash, async () => (await client.get(key)) as Buffer)
  }
  return found
}
