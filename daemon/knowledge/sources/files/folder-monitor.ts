/** Follows the changes of a folder source: by watching it or, if that is not possible, by listing it at intervals. */
import { statfs } from 'node:fs/promises'
import type { Static } from 'typebox'
import { CadreError } from '../../../../src/contract/errors.ts'
import type { SourceWatch } from '../../../../src/contract/families/knowledge-sources.ts'
import type { Clock } from '../../../async/clock.ts'
import { FolderPoller } from './folder-poller.ts'
import { FolderWatcher } from './folder-watcher.ts'
import type { WatchBudget } from './watch-budget.ts'

type WatchState = Static<typeof SourceWatch>

interface FolderMonitorOptions {
  configuration: Record<string, unknown>
  budget: WatchBudget
  onChange: () => void
  /** Called when the folder cannot be watched, with the reason. */
  onPolling: (reason: Error) => void
  clock?: Clock
}

/** Linux reports only those changes of network file systems that are made on this machine: NFS, SMB, 9P (WSL), FUSE, Ceph, VirtualBox. */
const FILE_SYSTEMS_WITHOUT_EVENTS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x00c36400, 0x786f4256])

export class FolderMonitor {
  readonly #options: FolderMonitorOptions
  #follower: FolderWatcher | FolderPoller | undefined
  #isClosed = false
  #state: WatchState = { mode: 'events', reason: null }

  constructor(options: FolderMonitorOptions) {
    this.#options = options
  }

  get state(): WatchState {
    return this.#state
  }

  /** Resolves when changes are followed. */
  async start(): Promise<void> {
    const { configuration, onChange, budget } = this.#options
    const hasEvents = await reportsChanges(configuration.path as string)
    if (this.#isClosed) return
    if (!hasEvents) {
      const problem = 'The folder is on a network file system, which does not report changes.'
      return this.#poll(new CadreError('UNAVAILABLE', problem))
    }
    this.#state = { mode: 'events', reason: null }
    const watcher = new FolderWatcher(configuration, onChange, (error) => void this.#poll(error), budget)
    this.#follower = watcher
    await watcher.start()
  }

  close(): void {
    this.#isClosed = true
    this.#follower?.close()
  }

  async #poll(reason: Error): Promise<void> {
    if (this.#isClosed) return
    const { configuration, onChange, onPolling, clock } = this.#options
    const { hint = '', code } = reason as Partial<CadreError>
    this.#state = { mode: 'polling', reason: `${reason.message} ${hint}`.trim() }
    const isMissing = code === 'NOT_FOUND'
    const onReturn = async () => {
      poller.close()
      await this.start()
      if (!this.#isClosed) onChange()
    }
    const poller = new FolderPoller({ configuration, onChange, onReturn: () => void onReturn(), isMissing, clock })
    this.#follower = poller
    onPolling(reason)
    await poller.start()
  }
}

async function reportsChanges(path: string): Promise<boolean> {
  if (process.platform !== 'linux') return true
  try {
    return !FILE_SYSTEMS_WITHOUT_EVENTS.has((await statfs(path)).type >>> 0)
  } catch {
    return true // a missing folder is reported by the watcher
  }
}
