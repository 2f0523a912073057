import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { resolveImageSupport } from '../../daemon/models/image-support.ts'
import type { Model } from '../../src/contract/families/models.ts'
import { MAX_IMAGES } from '../../src/contract/schemas/images.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { respondWithError, type ScriptedProvider, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('images')
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider({ providerTimes: { retryDelayMs: 5 } })
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))
test.before.each(() => {
  provider.script = [streamText('A cat.')]
})

const image = { type: 'image/png', data: 'aGVsbG8=' }
const getLastContent = (): unknown => provider.received.at(-1)?.body.messages.at(-1).content

test('images of a message reach the model and are stored as a marker', async () => {
  const id = await fixture.startConversation(provider, {}, { supports_images: true })
  assert.is((await expectData(fixture.send(id, 'What is this?', { images: [image] }))).content, 'A cat.')
  assert.equal(getLastContent(), [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
  ])
  const messages = await fixture.listMessages(id)
  assert.is(messages[0]?.content, 'What is this?\n[image]')
  assert.not.match(JSON.stringify(messages), 'aGVsbG8')
})

test('a message whose text ends like a marker can be answered again', async () => {
  const id = await fixture.startConversation(provider)
  const message = 'What does ![](cat.png) mean? And [image]'
  await fixture.send(id, message)
  assert.is((await expectData(fixture.send(id, message, { replace: true }))).content, 'A cat.')
})

test('a model that does not read images is not called with them', async () => {
  const id = await fixture.startConversation(provider, {}, { supports_images: false })
  const before = provider.received.length
  await expectError(fixture.send(id, 'What is this?', { images: [image] }), 'VALIDATION_ERROR', { field: 'images' })
  assert.is(provider.received.length, before)
  assert.equal(await fixture.listMessages(id), [], 'the message is not stored')
})

test('an error of the server about images is explained, and later images are rejected without a call', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [respondWithError(400, 'llava is not a multimodal model')]
  const failed = await fixture.send(id, 'What is this?', { images: [image] })
  assert.is(failed.body.code, 'PROVIDER_ERROR', JSON.stringify(failed.body))
  assert.match(failed.body.error, 'cannot read images')
  const before = provider.received.length
  await expectError(fixture.send(id, 'And this?', { images: [image] }), 'VALIDATION_ERROR', { field: 'images' })
  assert.is(provider.received.length, before)
  provider.script = [streamText('Hello.')]
  assert.is((await expectData(fixture.send(id, 'Hello'))).content, 'Hello.', 'messages without images are answered')
})

test('a message with images is retried with its images only', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [respondWithError(500)]
  await fixture.send(id, 'What is this?', { images: [image] })
  provider.script = [streamText('A cat.')]
  await expectError(fixture.service.post(`/conversations/${id}/messages`, { retry: true }), 'CONFLICT')
  const retried = await expectData(fixture.send(id, 'What is this?', { images: [image], retry: true }))
  assert.is(retried.content, 'A cat.')
  assert.equal((getLastContent() as Json[])[0], { type: 'text', text: 'What is this?' })
  assert.is((await fixture.listMessages(id)).length, 2, 'the message is stored once')
})

test('the number, type and size of images are limited', async () => {
  const id = await fixture.startConversation(provider, {}, { supports_images: true })
  const refuse = (images: unknown, field: string) => expectError(fixture.send(id, 'x', { images }), 'VALIDATION_ERROR', { field })
  await refuse(Array(MAX_IMAGES + 1).fill(image), 'images')
  await refuse([{ type: 'image/svg+xml', data: 'aGk=' }], 'images.0.type')
  await refuse([{ type: 'image/png', data: 'not base64!' }], 'images.0.data')
  await refuse([{ type: 'image/png', data: 'A'.repeat(14 * 1024 * 1024) }], 'images.0.data')
  await refuse(Array(3).fill({ type: 'image/png', data: 'A'.repeat(10 * 1024 * 1024) }), 'images')
  await expectError(fixture.service.post(`/conversations/${id}/messages`, { images: [image] }), 'VALIDATION_ERROR', { field: 'message' })
})

test('supports_images can be set and filtered, and is derived from names of known models', async () => {
  const { id, supports_images } = await fixture.resources.model({ ...provider.model, supports_images: true })
  assert.is(supports_images, true)
  const found = await expectData(fixture.service.get('/models?supports_images=true'))
  assert.ok(found.some((model: Json) => model.id === id))
  const known: [string, string, boolean | null][] = [
    ['openai', 'gpt-4o-mini', true],
    ['openai', 'gpt-5', true],
    ['openai', 'o3-mini', false],
    ['openai', 'gpt-3.5-turbo', false],
    ['anthropic', 'claude-sonnet-4-5', true],
    ['anthropic', 'claude-2.1', false],
    ['google', 'gemini-2.5-flash', true],
    ['ollama', 'llava:13b', true],
    ['ollama', 'qwen2.5vl:7b', true],
    ['ollama', 'llama3.2-vision', true],
    ['ollama', 'gemma3:1b', false],
    ['ollama', 'gemma3:4b', true],
    ['ollama', 'llama3.2', null],
    ['openai-compatible', 'Qwen/Qwen2.5-VL-7B-Instruct', true],
    ['openai-compatible', 'my-model', null],
  ]
  for (const [name, model_id, reads] of known) {
    const model = { provider: name as Model['provider'], model_id, supports_images: null }
    assert.is(resolveImageSupport(model), reads, `${name} ${model_id}`)
    assert.is(resolveImageSupport({ ...model, supports_images: reads === false }), reads === false, 'the setting takes precedence')
  }
})

test.run()
