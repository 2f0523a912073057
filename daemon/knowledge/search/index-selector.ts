/** Selects the index that answers a query on a source, and waits for it if none is complete. */
import { DEFAULT_CHUNKING, DEFAULT_EMBEDDING_MODEL } from '../../../src/contract/schemas/passages.ts'
import { scaleTimeout, startDeadline } from '../../../src/deadline.ts'
import type { Database } from '../../store/database.ts'
import { type Index, type IndexSettings, listIndexes, listIndexVersions } from '../passage-indexes/index-store.ts'
import { isTextComplete } from '../sync/sync-store.ts'
import type { Synchronizer } from '../sync/synchronizer.ts'

/** Longest wait for the first complete index of a source. */
const INDEX_WAIT_MS = 15_000

export class IndexSelector {
  readonly #database: Database
  readonly #synchronizer: Synchronizer

  constructor(database: Database, synchronizer: Synchronizer) {
    this.#database = database
    this.#synchronizer = synchronizer
  }

  /** Returns the index with these settings or, until it is complete, another complete index of the source. */
  async select(sourceId: string, wantedSettings: IndexSettings | undefined, isFullText: boolean): Promise<Index | undefined> {
    const settings = wantedSettings ?? (await this.#chooseSettings(sourceId))
    const [wanted] = await listIndexVersions(this.#database, sourceId, settings)
    if (wanted?.ready) return wanted
    // The embedding model was deleted by force; the sync creates an index with the default model.
    if (!wanted) await this.#synchronizer.start(sourceId, 'indexes')
    const index = wanted && (await this.#findReadyIndex(sourceId, settings))
    if (index?.ready) return index
    return isFullText ? this.#waitForText(sourceId, settings) : this.#waitForIndex(sourceId, settings)
  }

  /** Prefers complete indexes and, among them, those of the embedded model, which costs nothing. */
  async #chooseSettings(sourceId: string): Promise<IndexSettings> {
    const indexes = await listIndexes(this.#database, sourceId)
    const rank = ({ ready, embedding_model }: Index) => 2 * ready + Number(embedding_model === DEFAULT_EMBEDDING_MODEL)
    return indexes.sort((a, b) => rank(b) - rank(a))[0] ?? DEFAULT_CHUNKING
  }

  async #waitForIndex(sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    await Promise.race([this.#synchronizer.waitUntilIdle(sourceId), startTimeout()])
    return this.#findReadyIndex(sourceId, settings)
  }

  /** Full-text search needs no vectors. */
  async #waitForText(sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    const index = await this.#findTextIndex(sourceId, settings)
    if (index) return index
    await Promise.race([this.#synchronizer.waitUntilTextReady(sourceId), startTimeout()])
    return (await this.#findTextIndex(sourceId, settings)) ?? this.#waitForIndex(sourceId, settings)
  }

  async #findTextIndex(sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    const wanted = await listIndexVersions(this.#database, sourceId, settings)
    for (const index of [...wanted, ...(await listIndexes(this.#database, sourceId))])
      if (await isTextComplete(this.#database, sourceId, index.id)) return index
    return undefined
  }

  async #findReadyIndex(sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    const wanted = await listIndexVersions(this.#database, sourceId, settings)
    const others = await listIndexes(this.#database, sourceId)
    return [...wanted, ...others].find(({ ready }) => ready === 1) ?? wanted[0]
  }
}

const startTimeout = () => new Promise<void>((resolve) => startDeadline(scaleTimeout(INDEX_WAIT_MS), resolve).unref())
