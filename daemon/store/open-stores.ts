/** Opens and migrates the stores of a home: records, originals and vectors. */
import { statSync } from 'node:fs'
import type { Paths } from '../../src/config.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { type Database, openDatabase } from './database.ts'
import { isBlank, migrate } from './migrate.ts'
import { FolderOriginals } from './objects/folder-originals.ts'
import type { Storage } from './objects/open-bucket.ts'
import type { OriginalStore } from './original-store.ts'
import { checkVaultKey } from './remote/check-vault-key.ts'
import type { ServerAddress } from './remote/server-connection.ts'
import { VectorStore } from './vector-store.ts'
import type { WriteAheadLog } from './write-ahead-log.ts'

/** Checking takes about a second per gigabyte. Larger databases are checked by `cadre doctor`. */
const MAX_CHECKED_BYTES = 64 * 1024 ** 2

interface StoreOptions {
  paths: Paths
  /** A libSQL server for the records. Default: a file in the home. */
  databaseServer?: ServerAddress | undefined
  /** A bucket for documents and vectors. Default: folders in the home. */
  storage?: Storage | undefined
  disk?: ((databasePath: string) => WriteAheadLog) | undefined
  vault: { fingerprint?: string | undefined }
  exactRows?: number | undefined
}

/** Throws if the database is damaged, or missing although documents are stored. */
export async function openStores({ paths, databaseServer, storage, disk, vault, exactRows }: StoreOptions) {
  const database = databaseServer ? await openServer(databaseServer) : await openFile(paths, disk?.(paths.database))
  const isNew = await isBlank(database)
  try {
    const folder = new FolderOriginals(paths.documents)
    if (!storage && isNew && (await folder.hasAny())) throw createMissingDatabaseError(paths, database.location)
    await migrate(database)
    await checkVaultKey(database, vault.fingerprint)
    if (!storage) await requireNoBucket(database, folder)
    const stores = storage
      ? await openStorage(storage, database, paths.cache, exactRows)
      : { originals: folder, vectors: new VectorStore(paths.vectors, exactRows, { stopRecord: paths.stopRecord }) }
    await stores.vectors.compareWithStop()
    const ownsDocuments = stores.originals.isRemote || !database.isRemote || (await isOwner(database, stores.originals))
    const closeStores = async () => {
      await stores.vectors.close()
      await database.close()
    }
    return { database, ...stores, ownsDocuments, closeStores }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The documents would be marked as missing. */
async function requireNoBucket(database: Database, folder: OriginalStore): Promise<void> {
  if (!(await database.get('SELECT 1 FROM storage')) || (await folder.hasAny())) return
  if (!(await database.get('SELECT 1 FROM documents LIMIT 1'))) return
  throw new CadreError('UNAVAILABLE', `The documents of the database ${database.location} are in a bucket.`, {
    hint: 'Set CADRE_STORAGE_URL, or copy them to the home: cadre migrate --to-storage local',
  })
}

/** Otherwise another daemon of a shared database has the documents: this one would mark them as missing. */
const isOwner = async (database: Database, originals: OriginalStore): Promise<boolean> =>
  (await originals.hasAny()) || (await database.get('SELECT 1 FROM documents LIMIT 1')) === undefined

/** Loaded only if it is used. */
async function openStorage(storage: Storage, database: Database, cacheFolder: string, exactRows: number | undefined) {
  const { openBucket } = await import('./objects/open-bucket.ts')
  return openBucket(storage, database, cacheFolder, exactRows)
}

/** Loaded only if it is used. */
export async function openServer(address: ServerAddress): Promise<Database> {
  const { openServerDatabase } = await import('./remote/server-database.ts')
  return openServerDatabase(address)
}

async function openFile(paths: Paths, log: WriteAheadLog | undefined): Promise<Database> {
  const database = openDatabase(paths.database, log)
  // Background work on a damaged database could remove documents that it no longer lists.
  const damage = statSync(paths.database).size <= MAX_CHECKED_BYTES ? database.validateIntegrity() : undefined
  if (!damage) return database
  await database.close()
  throw damage
}

/** Starting anyway would remove every original as a leftover of a crash. */
const createMissingDatabaseError = ({ documents, home }: Paths, database: string) =>
  new CadreError('UNAVAILABLE', `${database} is missing or empty, but ${documents} holds documents.`, {
    hint: `Restore it from a backup of ${home}. To start over, move ${documents} away.`,
  })
