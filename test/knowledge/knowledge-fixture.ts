/** Fixture for tests of knowledge: creates sources and documents, waits for syncs and reads the LanceDB tables. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Connection } from '@lancedb/lancedb'
import { formatLanceOptions, type Storage } from '../../daemon/store/objects/open-bucket.ts'
import { expectData } from '../harness/expect.ts'
import { getTestStorage, listOriginals } from '../harness/object-store/test-storage.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer, type TestServerOptions } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

type Fields = Record<string, unknown>

export interface Row {
  id: string
  document_id: string
  position?: number
  content?: string
}

export class KnowledgeFixture {
  readonly service: TestServer
  readonly resources: Resources

  private constructor(service: TestServer) {
    this.service = service
    this.resources = new Resources(service)
  }

  static async start(options?: TestServerOptions): Promise<KnowledgeFixture> {
    return new KnowledgeFixture(await TestServer.start(options))
  }

  /** Starts a new service on the same home. */
  async restart(whileStopped: () => void = () => {}, options?: TestServerOptions): Promise<KnowledgeFixture> {
    const home = await this.service.stop()
    whileStopped()
    return KnowledgeFixture.start({ ...options, home })
  }

  close = () => this.service.close()

  createSource = (type = 'file', configuration?: Fields): Promise<Json> =>
    this.resources.source({ type, ...(configuration ? { configuration } : {}) })

  async createSyncedSource(documents: Record<string, string>): Promise<Json> {
    const source = await this.createSource()
    for (const [name, content] of Object.entries(documents)) await this.addDocument(source.id, name, content)
    return this.sync(source.id)
  }

  /** Adds a document that the next sync indexes. */
  addDocument = (sourceId: string, name: string, content: string, metadata: Fields = {}): Promise<Json> =>
    expectData(this.service.post(`/knowledge-sources/${sourceId}/documents`, { name, content, metadata, index: false }), 201)

  getSource = (sourceId: string): Promise<Json> => expectData(this.service.get(`/knowledge-sources/${sourceId}`))
  startSync = (sourceId: string): Promise<Json> => expectData(this.service.post(`/knowledge-sources/${sourceId}/sync`))

  async sync(sourceId: string): Promise<Json> {
    await this.startSync(sourceId)
    return this.waitForSync(sourceId)
  }

  /** Returns the source when no sync is running. */
  waitForSync = (sourceId: string): Promise<Json> =>
    waitFor(async () => {
      const source = await this.getSource(sourceId)
      return source.status !== 'syncing' && source.progress === null ? source : undefined
    })

  documents = async (sourceId: string): Promise<Json[]> =>
    expectData(this.service.get(`/knowledge-sources/${sourceId}/documents?limit=100&sort=name`))

  async getDocument(sourceId: string, name: string): Promise<Json> {
    return (await this.documents(sourceId)).find((document) => document.name === name)
  }

  createTool = async (sourceIds: string | string[], fields: Fields = {}): Promise<Json> =>
    this.resources.retrievalTool({ knowledge_source_ids: [sourceIds].flat(), ...fields })

  /** Creates a source whose only index uses the embedding model. */
  async createSourceWithTool(embeddingModel: string, type?: string, configuration?: Fields): Promise<{ source: Json; tool: Json }> {
    const source = await this.createSource(type, configuration)
    const tool = await this.createTool(source.id, { embedding_model: embeddingModel })
    await this.waitForSync(source.id)
    return { source, tool }
  }

  countOriginals = async (): Promise<number> => (await listOriginals(this.service.paths)).size

  search = async (tool: Json, query: string, fields: Fields = {}): Promise<Json[]> =>
    (await expectData(this.service.post(`/retrieval-tools/${tool.id}/search`, { query, ...fields }))).results

  /** Returns the names of the documents that a search finds, best first. */
  async searchNames(tool: Json, query: string, fields: Fields = {}): Promise<string[]> {
    return (await this.search(tool, query, fields)).map(({ metadata }) => metadata.source)
  }

  listIndexes = (sourceId: string): Promise<Json[]> =>
    this.service.database.all('SELECT * FROM indexes WHERE knowledge_source_id = ? ORDER BY id', [sourceId])

  /** Reads a table of an index with a separate LanceDB connection. */
  readRows = (index: Json, side: 'text' | 'vectors'): Promise<Row[]> =>
    readTableRows(this.service.paths.vectors, `${index.id}-${side}`, getTestStorage(this.service.paths))

  listTables = (): Promise<string[]> => this.withVectors((database) => database.tableNames())

  /** Runs work with a separate LanceDB connection. */
  async withVectors<T>(work: (database: Connection) => Promise<T>): Promise<T> {
    const database = await connectToVectors(this.service.paths.vectors, getTestStorage(this.service.paths))
    try {
      return await work(database)
    } finally {
      database.close()
    }
  }
}

/** Imported late: the service configures LanceDB first. */
async function connectToVectors(directory: string, storage: Storage | undefined): Promise<Connection> {
  const { connect } = await import('@lancedb/lancedb')
  return storage ? connect(`${storage.url}/vectors`, { storageOptions: formatLanceOptions(storage) }) : connect(directory)
}

export async function readTableRows(directory: string, name: string, storage?: Storage): Promise<Row[]> {
  const database = await connectToVectors(directory, storage)
  try {
    if (!(await database.tableNames()).includes(name)) return []
    const table = await database.openTable(name)
    const columns = name.endsWith('-text') ? ['id', 'document_id', 'position', 'content'] : ['id', 'document_id']
    return (await table.query().select(columns).toArray()).map((row) => ({ ...row.toJSON() }) as Row)
  } finally {
    database.close()
  }
}

export class TemporaryFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'cadre-folder-'))

  write(files: Record<string, string | Buffer>): void {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true })
      writeFileSync(join(this.path, name), content)
    }
  }

  remove(name = '.'): void {
    rmSync(join(this.path, name), { recursive: true, force: true })
  }
}
