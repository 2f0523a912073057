/** A scripted model that streams slowly and reports another number of tokens with each call, so that a call billed twice is found. */
import { ScriptedProvider, streamReply } from '../../test/harness/scripted-provider.ts'
import { formatReply } from './conversations.ts'

const DELTAS = 10
/** Above the estimates of the daemon, so that they are not mistaken for it. */
const FIRST_NUMBER = 1_000_000

export class NumberedProvider {
  readonly #server: ScriptedProvider
  #calls = 0

  private constructor(server: ScriptedProvider) {
    this.#server = server
  }

  static async start(random: () => number): Promise<NumberedProvider> {
    let provider: NumberedProvider
    const server = await ScriptedProvider.start('openai', (response, received, format) => {
      const text = formatReply(received.body.messages.at(-1).content)
      const length = Math.ceil(text.length / DELTAS)
      const parts = Array.from({ length: DELTAS }, (_, index) => text.slice(index * length, (index + 1) * length)).filter(Boolean)
      const usage = { input: FIRST_NUMBER + provider.#calls++, output: 1 }
      return streamReply({ text: parts, usage }, 10 + random() * 90)(response, received, format)
    })
    provider = new NumberedProvider(server)
    return provider
  }

  get model() {
    return this.#server.model
  }

  /** Calls report at least this number of tokens. */
  readonly firstNumber = FIRST_NUMBER

  get calls(): number {
    return this.#calls
  }

  /** Whether the number was reported by a call. */
  isCall = (tokens: number): boolean => tokens >= FIRST_NUMBER && tokens < FIRST_NUMBER + this.#calls

  close = (): Promise<void> => this.#server.close()
}
