/** A small disk in memory that only the daemon sees, so that it can be filled. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const BLOCK = Buffer.alloc(64 * 1024, 1)

export class SmallDisk {
  readonly #keeper: ChildProcess
  readonly #folder: string

  private constructor(keeper: ChildProcess, folder: string) {
    this.#keeper = keeper
    this.#folder = folder
  }

  /** Mounts a disk on a folder in a namespace of its own. Returns undefined where namespaces are not available. */
  static async mount(folder: string, megabytes: number): Promise<SmallDisk | undefined> {
    if (process.platform !== 'linux') return undefined
    // The namespace exists as long as this process, so that the disk outlives killed daemons.
    const script = `mount -t tmpfs -o size=${megabytes}m,mode=700 cadre-attack "$1" && echo mounted && exec sleep 86400`
    const keeper = spawn('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', folder], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const started = await Promise.race([once(keeper.stdout as NodeJS.ReadableStream, 'data'), once(keeper, 'exit'), once(keeper, 'error')])
    if (!String(started[0]).startsWith('mounted')) return undefined
    return new SmallDisk(keeper, folder)
  }

  /** The program and arguments that run a daemon on this disk. */
  get launcher(): string[] {
    return ['nsenter', '--target', String(this.#keeper.pid), '--user', '--mount', '--preserve-credentials']
  }

  /** Where this process sees a file of the disk. */
  locate(name: string): string {
    return join(`/proc/${this.#keeper.pid}/root`, this.#folder, name)
  }

  /** Fills the disk until at most these bytes are free. */
  fill(freeBytes: number): void {
    const file = openSync(this.locate('filler'), 'w')
    try {
      let size = 0
      for (let length = BLOCK.length; length > 0; ) {
        try {
          size += writeSync(file, BLOCK, 0, length)
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
          length = Math.floor(length / 2)
        }
      }
      ftruncateSync(file, Math.max(0, Math.floor(size - freeBytes)))
    } finally {
      closeSync(file)
    }
  }

  free(): void {
    rmSync(this.locate('filler'), { force: true })
  }

  async unmount(): Promise<void> {
    const exited = once(this.#keeper, 'exit')
    this.#keeper.kill('SIGKILL')
    await exited
  }
}
