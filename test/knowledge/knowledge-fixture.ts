/** Knowledge as tests use it: sources, documents, synchronizations waited for, and what the indexes really hold. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Connection } from '@lancedb/lancedb'
import { expectData } from '../harness/expect.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer, type TestServerOptions } from '../harness/test-server.ts'

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

  /** The same home in a new service, as after a restart. */
  async restart(meanwhile: () => void = () => {}): Promise<KnowledgeFixture> {
    const home = await this.service.stop()
    meanwhile()
    return KnowledgeFixture.start({ home })
  }

  close = () => this.service.close()

  createSource = (type = 'file', configuration?: Fields): Promise<Json> =>
    this.resources.source({ type, ...(configuration ? { configuration } : {}) })

  /** A source with these documents, synchronized. */
  async createSyncedSource(listDocuments: Record<string, string>): Promise<Json> {
    const source = await this.createSource()
    for (const [name, content] of Object.entries(listDocuments)) await this.addDocument(source.id, name, content)
    return this.sync(source.id)
  }

  addDocument = (sourceId: string, name: string, content: string, metadata: Fields = {}): Promise<Json> =>
    expectData(this.service.post(`/knowledge-sources/${sourceId}/documents`, { name, content, metadata }), 201)

  getSource = (sourceId: string): Promise<Json> => expectData(this.service.get(`/knowledge-sources/${sourceId}`))
  startSync = (sourceId: string): Promise<Json> => expectData(this.service.post(`/knowledge-sources/${sourceId}/sync`))

  async sync(sourceId: string): Promise<Json> {
    await this.startSync(sourceId)
    return this.waitForSync(sourceId)
  }

  /** The source once nothing is under way for it. */
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

  search = async (tool: Json, query: string, fields: Fields = {}): Promise<Json[]> =>
    (await expectData(this.service.post(`/retrieval-tools/${tool.id}/search`, { query, ...fields }))).results

  /** Names of the documents a search finds, best first. */
  async searchNames(tool: Json, query: string, fields: Fields = {}): Promise<string[]> {
    return (await this.search(tool, query, fields)).map(({ metadata }) => metadata.source)
  }

  listIndexes = (sourceId: string): Promise<Json[]> =>
    this.service.database.all('SELECT * FROM indexes WHERE knowledge_source_id = ? ORDER BY id', [sourceId])

  /** What is in the tables of an index, read from the disk as another program would. */
  readRows = (index: Json, side: 'text' | 'vectors'): Promise<Row[]> => readTableRows(this.service.paths.vectors, `${index.id}-${side}`)

  listTables = async (): Promise<string[]> => {
    const database = await connectToVectors(this.service.paths.vectors)
    try {
      return await database.tableNames()
    } finally {
      database.close()
    }
  }
}

/** Loaded late: the service says how LanceDB is to be set up. */
async function connectToVectors(directory: string): Promise<Connection> {
  const { connect } = await import('@lancedb/lancedb')
  return connect(directory)
}

export async function readTableRows(directory: string, name: string): Promise<Row[]> {
  const database = await connectToVectors(directory)
  try {
    if (!(await database.tableNames()).includes(name)) return []
    const table = await database.openTable(name)
    const columns = name.endsWith('-text') ? ['id', 'document_id', 'position', 'content'] : ['id', 'document_id']
    return (await table.query().select(columns).toArray()).map((row) => ({ ...row.toJSON() }) as Row)
  } finally {
    database.close()
  }
}

/** Asks again until there is an answer; what never comes is left to the limit of the test run. */
export async function waitFor<T>(ask: () => Promise<T | undefined | false>, everyMs = 25): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    await pause(everyMs)
  }
}

/** A folder of files that a test may change. */
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
