/** Recordings of replay models, for those who carry them from one home to another. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { ListQuery } from '../../../src/contract/schemas/list-query.ts'
import type { Caller } from '../../core/caller.ts'
import type { Database } from '../../store/database.ts'
import type { Page } from '../../store/records.ts'
import type { ModelsService } from '../service.ts'
import { deleteRecordings, listRecordings, type StoredRecording, saveRecording } from './recording-store.ts'
import { hashRequest } from './replay-chat-model.ts'

export class RecordingsService {
  readonly #database: Database
  readonly #models: ModelsService

  constructor(database: Database, models: ModelsService) {
    this.#database = database
    this.#models = models
  }

  async list(caller: Caller, id: string, query: ListQuery): Promise<Page<StoredRecording>> {
    await this.#models.require(this.#database, caller, id)
    return listRecordings(this.#database, id, query)
  }

  async add(caller: Caller, id: string, recordings: readonly Omit<StoredRecording, 'created_at'>[]): Promise<{ added: number }> {
    await this.#require(caller, id)
    const wrong = recordings.find(({ key, request }) => key !== hashRequest(request))
    if (wrong)
      throw new CadreError('VALIDATION_ERROR', `The key ${wrong.key.slice(0, 12)}… is not that of its request: the recording was changed.`)
    const unended = recordings.find(({ parts }) => parts.at(-1)?.type !== 'end')
    if (unended) throw new CadreError('VALIDATION_ERROR', `The recording ${unended.key.slice(0, 12)}… does not end with its end.`)
    const created_at = new Date().toISOString()
    await this.#database.write(async (transaction) => {
      for (const recording of recordings) await saveRecording(transaction, id, { ...recording, created_at })
    })
    return { added: recordings.length }
  }

  async clear(caller: Caller, id: string): Promise<string> {
    await this.#require(caller, id)
    const count = await this.#database.write((transaction) => deleteRecordings(transaction, id))
    return `${count} recordings were forgotten.`
  }

  async #require(caller: Caller, id: string): Promise<void> {
    const { provider } = await this.#models.require(this.#database, caller, id)
    if (provider !== 'replay') throw new CadreError('CONFLICT', 'Only models of the provider replay have recordings.')
  }
}
