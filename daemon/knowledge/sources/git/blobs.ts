/** Reading blobs of a repository through one `git cat-file --batch`, started when first needed and ended when idle. */
import { once } from 'node:events'
import { CadreError } from '../../../../src/contract/errors.ts'
import { type StartedGit, startGit } from './run-git.ts'

const IDLE_MS = 1_000

export class BlobReader {
  readonly #directory: string
  readonly #limit: number
  #git: StartedGit | undefined
  #input: AsyncIterator<Buffer> | undefined
  #left: Buffer = Buffer.alloc(0)
  #turn: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined

  constructor(directory: string, limit: number) {
    this.#directory = directory
    this.#limit = limit
  }

  /** One at a time: the program answers in the order it is asked. */
  read(blob: string, signal: AbortSignal): Promise<Uint8Array> {
    const result = this.#turn.then(() => this.#readNow(blob, signal))
    // The next one waits for this to be over, however it ended.
    this.#turn = result.catch(() => {})
    return result
  }

  async #readNow(blob: string, signal: AbortSignal): Promise<Uint8Array> {
    signal.throwIfAborted()
    clearTimeout(this.#idle)
    const end = () => this.#end()
    signal.addEventListener('abort', end, { once: true })
    try {
      this.#git ??= this.#start()
      const { stdin } = this.#git.child
      if (stdin && !stdin.write(`${blob}\n`)) await once(stdin, 'drain')
      const header = (await this.#line()).split(' ')
      if (header[1] !== 'blob') throw new CadreError('NOT_FOUND', 'Its content is missing from the repository.')
      const size = Number(header[2])
      if (size > this.#limit) throw new CadreError('PAYLOAD_TOO_LARGE', `It has ${size} bytes; this source takes at most ${this.#limit}.`)
      const bytes = await this.#take(size + 1)
      this.#idle = setTimeout(end, IDLE_MS).unref()
      return bytes.subarray(0, size)
    } catch (error) {
      // Where in its answer the program is, nobody knows any more.
      this.#end()
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  #start(): StartedGit {
    const git = startGit({ directory: this.#directory, args: ['cat-file', '--batch'] })
    this.#input = git.child.stdout?.iterator({ destroyOnReturn: true })
    // The process must not keep a daemon that wants to end; it goes with its input.
    git.child.unref()
    return git
  }

  #end(): void {
    clearTimeout(this.#idle)
    this.#git?.child.kill('SIGKILL')
    this.#git = undefined
    this.#input = undefined
    this.#left = Buffer.alloc(0)
  }

  async #line(): Promise<string> {
    for (;;) {
      const at = this.#left.indexOf(10)
      if (at >= 0) {
        const line = this.#left.subarray(0, at).toString('utf8')
        this.#left = this.#left.subarray(at + 1)
        return line
      }
      this.#left = Buffer.concat([this.#left, await this.#more()])
    }
  }

  async #take(size: number): Promise<Buffer> {
    const parts = [this.#left]
    let length = this.#left.length
    while (length < size) {
      const part = await this.#more()
      parts.push(part)
      length += part.length
    }
    const all = Buffer.concat(parts, length)
    this.#left = all.subarray(size)
    return all.subarray(0, size)
  }

  async #more(): Promise<Buffer> {
    const next = await this.#input?.next()
    if (next && !next.done) return next.value
    const { errors } = (await this.#git?.ended) ?? { errors: '' }
    throw new CadreError('UNAVAILABLE', `git ended while it was read. ${errors.trim()}`.trim())
  }
}
