/** Which database a bucket belongs to. A database that does not know its documents would remove them as leftovers of a crash. */
import { hash, randomUUID } from 'node:crypto'
import type { Database, DatabaseReader } from '../database.ts'
import { retryWrite } from '../remote/retry-write.ts'
import type { S3Client } from './s3-client.ts'
import { createForeignStorageError, createLocalDocumentsError } from './storage-errors.ts'

const OWNER_KEY = 'cadre.json'

/** Throws if the bucket belongs to another database, or if the database has documents elsewhere. */
export async function claimBucket(client: S3Client, database: Database): Promise<void> {
  const owner = await readOwner(client)
  const id = await retryWrite(database, async (transaction) => {
    const row = await transaction.get<{ id: string }>('SELECT id FROM storage')
    if (row) return row.id
    const hasDocuments = (await transaction.get('SELECT 1 FROM documents LIMIT 1')) !== undefined
    const copied = await identifyDatabase(transaction)
    if (hasDocuments && owner !== copied) throw createLocalDocumentsError(client.location)
    const id = owner === copied ? copied : randomUUID()
    await transaction.run('INSERT INTO storage (id) VALUES (?)', [id])
    return id
  })
  await setOwner(client, id)
}

/** Throws if the bucket has another owner. */
export async function setOwner(client: S3Client, id: string): Promise<void> {
  if (await client.put(OWNER_KEY, Buffer.from(JSON.stringify({ database: id })), { ifAbsent: true })) return
  if ((await readOwner(client)) !== id) throw createForeignStorageError(client.location)
}

/** The id that a database has in buckets, or gets when its documents are copied to one. */
export async function identifyDatabase(reader: DatabaseReader): Promise<string> {
  const row = await reader.get<{ id: string }>('SELECT id FROM storage')
  if (row) return row.id
  const first = await reader.get<{ applied_at: string }>('SELECT applied_at FROM migrations ORDER BY name LIMIT 1')
  return hash('sha256', first?.applied_at ?? '', 'hex').slice(0, 32)
}

async function readOwner(client: S3Client): Promise<string | undefined> {
  const text = await client.get(OWNER_KEY)
  return text && (JSON.parse(text.toString()) as { database?: string }).database
}
