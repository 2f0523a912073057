/** Copies a home to a libSQL server and a bucket, or back. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Paths } from '../../../src/config.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { type Database, openDatabase } from '../database.ts'
import { identifyDatabase, setOwner } from '../objects/bucket-owner.ts'
import { S3Client, type StorageAddress } from '../objects/s3-client.ts'
import { openServer } from '../open-stores.ts'
import type { ServerAddress } from '../remote/server-connection.ts'
import { copyFiles } from './copy-files.ts'
import { copyRecords, type ReportProgress } from './copy-records.ts'
import { BucketTree, FolderTree } from './file-trees.ts'

/** Undefined means: in the home. */
interface Stores {
  database?: ServerAddress | undefined
  storage?: StorageAddress | undefined
}

interface CopyOptions {
  paths: Paths
  source: Stores
  /** Without a key, that part is not copied. */
  target: Stores
  report: ReportProgress
}

/** The caller holds the lock of the home. Files are copied first: a target with all records is complete. */
export async function copyHome({ paths, source, target, report }: CopyOptions): Promise<{ rows: number; files: number }> {
  requireDifferent(paths, source, target)
  if (!source.database && !existsSync(paths.database)) throw new CadreError('NOT_FOUND', `There are no records in ${paths.home}.`)
  const records = await openRecords(paths, source.database)
  try {
    await requireNoDaemons(records)
    const id = await identifyDatabase(records)
    const files = 'storage' in target ? await copyStorage(paths, records, source.storage, target.storage, report) : 0
    if ('storage' in target && target.storage) await setOwner(new S3Client(target.storage), id)
    const rows = 'database' in target ? await copyDatabase(paths, records, target, id, report) : 0
    return { rows, files }
  } finally {
    await records.close()
  }
}

const openRecords = async (paths: Paths, server: ServerAddress | undefined): Promise<Database> =>
  server ? openServer(server) : openDatabase(paths.database)

function requireDifferent({ home }: Paths, source: Stores, target: Stores): void {
  for (const part of ['database', 'storage'] as const)
    if (part in target && source[part]?.url === target[part]?.url)
      throw new CadreError('CONFLICT', `The ${part === 'database' ? 'records' : 'documents'} are already in ${target[part]?.url ?? home}.`)
}

async function requireNoDaemons(records: Database): Promise<void> {
  if (!records.isRemote || (await records.get('SELECT 1 FROM live_daemons LIMIT 1')) === undefined) return
  throw new CadreError('CONFLICT', `Daemons are running on the database ${records.location}.`, {
    hint: 'Stop all of them. A daemon that was killed counts as running for 15 seconds.',
  })
}

async function copyStorage(
  paths: Paths,
  records: Database,
  from: StorageAddress | undefined,
  to: StorageAddress | undefined,
  report: ReportProgress,
): Promise<number> {
  const openTree = async (address: StorageAddress | undefined) => {
    if (!address) return new FolderTree(paths.home)
    const client = new S3Client(address)
    await client.measureLatency() // explains what is wrong with the address
    return new BucketTree(client)
  }
  const trees = { source: await openTree(from), target: await openTree(to) }
  return copyFiles(records, trees, join(paths.work, 'copy'), report)
}

async function copyDatabase(paths: Paths, records: Database, target: Stores, id: string, report: ReportProgress): Promise<number> {
  const copy = await openRecords(paths, target.database)
  try {
    return await copyRecords(records, copy, report, async (transaction) => {
      if (!('storage' in target)) return
      await transaction.run('DELETE FROM storage')
      if (target.storage) await transaction.run('INSERT INTO storage (id) VALUES (?)', [id])
    })
  } finally {
    await copy.close()
  }
}
