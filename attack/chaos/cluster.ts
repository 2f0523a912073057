/** Three daemons on one libSQL server and one bucket, which are killed, restarted and paused at random. */
import { cpSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Storage } from '../../daemon/store/objects/open-bucket.ts'
import { type DaemonProcess, startDaemon, TOKEN } from '../../test/harness/daemon.ts'
import { BUCKET, ObjectStore } from '../../test/harness/object-store/start-object-store.ts'
import { findFreePort, Sqld } from '../../test/harness/sqld/start-sqld.ts'

const DAEMONS = 3
const START_TIMEOUT_MS = 60_000
const CACHE_BYTES = 1024 ** 3
const VAULT_KEY = Buffer.alloc(32, 'chaos').toString('base64')

interface Member {
  home: string
  /** Kept over restarts, so that clients find the daemon again. */
  port: number
  daemon: DaemonProcess | undefined
}

export class Cluster {
  readonly sqld: Sqld
  readonly store: ObjectStore
  readonly #folder: string
  readonly #members: Member[] = []
  readonly #restarts = new Set<Promise<void>>()
  #isClosing = false
  kills = 0

  private constructor(folder: string, sqld: Sqld, store: ObjectStore) {
    this.#folder = folder
    this.sqld = sqld
    this.store = store
  }

  static async start(folder: string): Promise<Cluster> {
    const cluster = new Cluster(folder, await Sqld.start(), await ObjectStore.start())
    try {
      for (let index = 0; index < DAEMONS; index++)
        cluster.#members.push({ home: join(folder, `home-${index}`), port: await findFreePort(), daemon: undefined })
      await Promise.all(cluster.#members.map((member) => cluster.#startMember(member)))
      return cluster
    } catch (error) {
      await cluster.close()
      throw error
    }
  }

  get urls(): string[] {
    return this.#members.map(({ port }) => `http://127.0.0.1:${port}`)
  }

  get storage(): Storage {
    return { ...this.store.address, url: `s3://${BUCKET}/chaos`, cacheBytes: CACHE_BYTES }
  }

  /**
   * Kills a daemon as a power cut would. It starts again after the delay. The last daemon is spared: on a busy machine starts take
   * longer than the time between kills, and without a daemon nothing would be attacked.
   */
  async kill(choice: number, delayMs: number): Promise<void> {
    const running = this.#members.filter(({ daemon }) => daemon !== undefined)
    const member = running[Math.floor(choice * running.length)]
    if (!member || running.length === 1) return
    const { daemon } = member
    member.daemon = undefined
    this.kills++
    await daemon?.kill()
    const restart = pause(delayMs).then(() => this.#startMember(member))
    this.#restarts.add(restart)
    restart.then(() => this.#restarts.delete(restart)).catch(() => undefined) // reported by waitForRestarts
  }

  async restartDatabase(delayMs: number): Promise<void> {
    await this.sqld.kill()
    await pause(delayMs)
    await this.sqld.startAgain()
  }

  async pauseStorage(durationMs: number): Promise<void> {
    this.store.pause()
    await pause(durationMs)
    this.store.continue()
  }

  /** Throws if a daemon does not start although its servers are reachable. */
  async waitForRestarts(): Promise<void> {
    await Promise.all([...this.#restarts])
  }

  copyLogs(target: string): void {
    for (const { home } of this.#members) cpSync(join(home, 'logs'), join(target, basename(home)), { recursive: true })
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.store.continue()
    await Promise.allSettled([...this.#restarts])
    await Promise.all(this.#members.map(({ daemon }) => daemon?.kill()))
    this.sqld.remove()
    this.store.remove()
  }

  /** A daemon does not start while a server is away; a service manager then starts it again. */
  async #startMember(member: Member): Promise<void> {
    for (const deadline = Date.now() + START_TIMEOUT_MS; ; ) {
      try {
        member.daemon = await startDaemon(member.home, {
          token: TOKEN,
          arguments: ['--port', String(member.port)],
          environment: {
            ...this.store.environment,
            CADRE_DATABASE_URL: this.sqld.url,
            CADRE_STORAGE_URL: this.storage.url,
            CADRE_VAULT_KEY: VAULT_KEY,
            TMPDIR: this.#folder,
          },
        })
        return
      } catch (error) {
        if (this.#isClosing || Date.now() > deadline) throw error
        await pause(500)
      }
    }
  }
}
