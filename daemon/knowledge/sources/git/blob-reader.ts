/** Reads blobs of a repository through one `git cat-file --batch` process, which is started on demand and stopped when idle. */
import { once } from 'node:events'
import { CadreError } from '../../../../src/contract/errors.ts'
import { formatSizeProblem } from '../files/read-file-within.ts'
import { type GitProcess, spawnGit } from './run-git.ts'

const IDLE_TIMEOUT_MS = 1_000

export class BlobReader {
  readonly #directory: string
  readonly #maxBytes: number
  #git: GitProcess | undefined
  #input: AsyncIterator<Buffer> | undefined
  #buffer: Buffer = Buffer.alloc(0)
  #queue: Promise<unknown> = Promise.resolve()
  #idleTimer: NodeJS.Timeout | undefined

  constructor(directory: string, limit: number) {
    this.#directory = directory
    this.#maxBytes = limit
  }

  /** Serialized: git answers in the order of the requests. */
  read(blob: string, signal: AbortSignal): Promise<Uint8Array> {
    const result = this.#queue.then(() => this.#readNow(blob, signal))
    this.#queue = result.catch(() => {})
    return result
  }

  async #readNow(blob: string, signal: AbortSignal): Promise<Uint8Array> {
    signal.throwIfAborted()
    clearTimeout(this.#idleTimer)
    const stop = () => this.#end()
    signal.addEventListener('abort', stop, { once: true })
    try {
      this.#git ??= this.#start()
      const { stdin } = this.#git.child
      if (stdin && !stdin.write(`${blob}\n`)) await once(stdin, 'drain')
      const header = (await this.#readLine()).split(' ')
      if (header[1] !== 'blob') throw new CadreError('NOT_FOUND', 'The content of the file is missing from the repository.')
      const size = Number(header[2])
      if (size > this.#maxBytes) throw new CadreError('PAYLOAD_TOO_LARGE', formatSizeProblem(size, this.#maxBytes))
      const bytes = await this.#readBytes(size + 1)
      this.#idleTimer = setTimeout(stop, IDLE_TIMEOUT_MS).unref()
      return bytes.subarray(0, size)
    } catch (error) {
      // The position in the output is unknown after an error.
      this.#end()
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  #start(): GitProcess {
    const git = spawnGit({ directory: this.#directory, args: ['cat-file', '--batch'] })
    this.#input = git.child.stdout?.iterator({ destroyOnReturn: true })
    // Must not keep the daemon running; exits when its input is closed.
    git.child.unref()
    return git
  }

  #end(): void {
    clearTimeout(this.#idleTimer)
    this.#git?.child.kill('SIGKILL')
    this.#git = undefined
    this.#input = undefined
    this.#buffer = Buffer.alloc(0)
  }

  async #readLine(): Promise<string> {
    for (;;) {
      const index = this.#buffer.indexOf(10)
      if (index >= 0) {
        const line = this.#buffer.subarray(0, index).toString('utf8')
        this.#buffer = this.#buffer.subarray(index + 1)
        return line
      }
      this.#buffer = Buffer.concat([this.#buffer, await this.#readChunk()])
    }
  }

  async #readBytes(size: number): Promise<Buffer> {
    const parts = [this.#buffer]
    let length = this.#buffer.length
    while (length < size) {
      const part = await this.#readChunk()
      parts.push(part)
      length += part.length
    }
    const all = Buffer.concat(parts, length)
    this.#buffer = all.subarray(size)
    return all.subarray(0, size)
  }

  async #readChunk(): Promise<Buffer> {
    const next = await this.#input?.next()
    if (next && !next.done) return next.value
    const { stderr } = (await this.#git?.exit) ?? { stderr: '' }
    throw new CadreError('UNAVAILABLE', `git exited unexpectedly. ${stderr.trim()}`.trim())
  }
}
