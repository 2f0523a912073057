/** The storage of a test server: folders in its home, or a prefix of the bucket that the runner started. */
import { createHash } from 'node:crypto'
import type { Storage } from '../../../daemon/store/objects/open-bucket.ts'
import type { Paths } from '../../../src/config.ts'
import { BUCKET } from './start-object-store.ts'

const { CADRE_TEST_STORAGE_ADDRESS: address } = process.env
const CACHE_BYTES = 1024 ** 3

/** A home keeps its prefix over restarts. Returns undefined if documents are in the home. */
export function getTestStorage({ home }: Paths): Storage | undefined {
  if (address === undefined) return undefined
  const prefix = createHash('sha256').update(home).digest('hex').slice(0, 16)
  return { ...(JSON.parse(address) as Storage), url: `s3://${BUCKET}/${prefix}`, cacheBytes: CACHE_BYTES }
}
