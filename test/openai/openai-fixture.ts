/** Test fixture: a server on a real port with a scripted model, an agent with documents, and OpenAI's client. */
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { ConversationFixture } from '../conversations/conversation-fixture.ts'
import { ScriptedProvider, streamText } from '../harness/scripted-provider.ts'
import { ADMIN_TOKEN, type Json, type TestServerOptions } from '../harness/test-server.ts'

export class OpenaiFixture {
  readonly conversations: ConversationFixture
  readonly provider: ScriptedProvider
  readonly client: OpenAI
  readonly model: Json
  readonly agent: Json

  private constructor(conversations: ConversationFixture, provider: ScriptedProvider, model: Json, agent: Json) {
    this.conversations = conversations
    this.provider = provider
    this.model = model
    this.agent = agent
    this.client = this.createClient(ADMIN_TOKEN)
  }

  /** Creates the agent Helper, whose model Scripted replies what a test scripts. */
  static async open(options?: TestServerOptions): Promise<OpenaiFixture> {
    const [conversations, provider] = await Promise.all([
      ConversationFixture.open(options),
      ScriptedProvider.start('openai', streamText('Twenty-five ', 'days.')),
    ])
    const model = await conversations.resources.model({ ...provider.model, name: 'Scripted', pricing: { input: 0.5, output: 1.5 } })
    const agent = await conversations.resources.agent({ name: 'Helper', model_id: model.id, system_prompt: 'Be brief.' })
    return new OpenaiFixture(conversations, provider, model, agent)
  }

  get service() {
    return this.conversations.service
  }

  get baseUrl(): string {
    return `${this.conversations.url}/v1`
  }

  createClient(apiKey: string, options: object = {}): OpenAI {
    return new OpenAI({ apiKey, baseURL: this.baseUrl, maxRetries: 0, ...options })
  }

  /** The body of the last request to the provider. */
  get lastBody(): Json {
    return this.provider.received.at(-1)?.body
  }

  async close(): Promise<void> {
    await this.conversations.close()
    await this.provider.close()
  }
}

/** Asserts the status, type, code and param of an error. */
export async function expectOpenaiError(
  response: Promise<Json>,
  status: number,
  type: string,
  code: string | null,
  param: string | null = null,
) {
  const { status: actual, body, text } = await response
  assert.equal([actual, body.error?.type, body.error?.code, body.error?.param], [status, type, code, param], text)
  return body.error.message as string
}
