/** Lists, imports and deletes recordings of replay models. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { ListQuery } from '../../../src/contract/schemas/list-query.ts'
import type { Caller } from '../../core/caller.ts'
import type { Database } from '../../store/database.ts'
import type { Page } from '../../store/records.ts'
import type { ModelsService } from '../service.ts'
import { deleteRecordings, listRecordings, type StoredRecording, saveRecording } from './recording-store.ts'
import { hashRequest } from './replay-chat-model.ts'

export function createRecordingsService(database: Database, models: ModelsService) {
  async function list(caller: Caller, id: string, query: ListQuery): Promise<Page<StoredRecording>> {
    await models.require(database, caller, id)
    return listRecordings(database, id, query)
  }

  async function add(caller: Caller, id: string, recordings: readonly Omit<StoredRecording, 'created_at'>[]): Promise<{ added: number }> {
    await requireReplayModel(caller, id)
    for (const { key, request, parts } of recordings) {
      const name = `The recording ${key.slice(0, 12)}…`
      if (key !== hashRequest(request)) throw new CadreError('VALIDATION_ERROR', `${name} was changed: its key does not match its request.`)
      if (parts.at(-1)?.type !== 'end')
        throw new CadreError('VALIDATION_ERROR', `${name} is incomplete: its last part must be of type end.`)
    }
    const created_at = new Date().toISOString()
    await database.write(async (transaction) => {
      for (const recording of recordings) await saveRecording(transaction, id, { ...recording, created_at })
    })
    return { added: recordings.length }
  }

  async function clear(caller: Caller, id: string): Promise<string> {
    await requireReplayModel(caller, id)
    const count = await database.write((transaction) => deleteRecordings(transaction, id))
    return `Deleted ${count} recordings.`
  }

  async function requireReplayModel(caller: Caller, id: string): Promise<void> {
    const { provider } = await models.require(database, caller, id)
    if (provider !== 'replay') throw new CadreError('CONFLICT', 'Only models of the provider replay have recordings.')
  }

  return { list, add, clear }
}

export type RecordingsService = ReturnType<typeof createRecordingsService>
