/** OpenAI-compatible embedding server that counts words. It can hold its responses back or fail. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type RecordingServer, startRecordingServer } from '../outbound/recording-server.ts'

export class ScriptedEmbedder {
  readonly #server: RecordingServer
  readonly #dimensions: number
  #held: (() => void)[] | undefined
  /** Returned instead of vectors. */
  failure: { status: number; error: string } | undefined

  private constructor(server: RecordingServer, dimensions: number) {
    this.#server = server
    this.#dimensions = dimensions
    server.listener = (request, reply) => this.#answer(request, reply)
  }

  static async start(dimensions = 64): Promise<ScriptedEmbedder> {
    return new ScriptedEmbedder(await startRecordingServer(), dimensions)
  }

  /** Fields of a model that uses this server. */
  get model() {
    return { provider: 'openai-compatible', endpoint: `${this.#server.origin}/v1` }
  }

  get requests(): number {
    return this.#server.requests.length
  }

  get texts(): string[] {
    return this.#server.requests.flatMap(({ body }) => (JSON.parse(body) as { input: string[] }).input)
  }

  /** Holds responses back until release(). */
  hold(): void {
    this.#held ??= []
  }

  get holding(): number {
    return this.#held?.length ?? 0
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const answer of held) answer()
  }

  async close(): Promise<void> {
    this.release()
    await this.#server.close()
  }

  #answer(_: IncomingMessage, reply: ServerResponse): void {
    const { input } = JSON.parse(this.#server.requests.at(-1)?.body ?? '{}') as { input: string[] }
    const answer = () => {
      const body = this.failure
        ? { error: { message: this.failure.error } }
        : { data: input.map((text, index) => ({ index, embedding: this.#vector(text) })), usage: { total_tokens: input.length } }
      reply.writeHead(this.failure?.status ?? 200, { 'content-type': 'application/json' })
      reply.end(JSON.stringify(body))
    }
    if (this.#held) this.#held.push(answer)
    else answer()
  }

  #vector(text: string): number[] {
    const vector = new Array<number>(this.#dimensions).fill(0.001)
    for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
      const at = createHash('sha256').update(word).digest().readUInt32LE(0) % this.#dimensions
      vector[at] = (vector[at] as number) + 1
    }
    return vector
  }
}
