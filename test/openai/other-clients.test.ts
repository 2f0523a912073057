import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { tool as createTool, embedMany, generateObject, generateText, stepCountIs, streamText as streamWithAiSdk } from 'ai'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { reportFailure } from '../harness/hooks.ts'
import { streamReply, streamText } from '../harness/scripted-provider.ts'
import { ADMIN_TOKEN, type Json } from '../harness/test-server.ts'
import { OpenaiFixture } from './openai-fixture.ts'

const test = suite('other clients')
let fixture: OpenaiFixture
const callWeather = streamReply({ calls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } }] })
const city = z.object({ city: z.string() })

test.before(
  reportFailure(async () => {
    setTracingDisabled(true)
    fixture = await OpenaiFixture.open()
  }),
)
test.before.each(() => {
  fixture.provider.script = [streamText('Twenty-five ', 'days.')]
})
test.after(reportFailure(() => fixture.close()))

const createAiSdk = () =>
  createOpenAICompatible({
    name: 'cadre',
    baseURL: fixture.baseUrl,
    apiKey: ADMIN_TOKEN,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })

test('the AI SDK generates and streams text', async () => {
  const cadre = createAiSdk()
  const { text, usage } = await generateText({ model: cadre('Helper'), prompt: 'How many days?' })
  assert.equal([text, usage.totalTokens], ['Twenty-five days.', 17])
  const stream = streamWithAiSdk({ model: cadre('Helper'), prompt: 'How many days?' })
  assert.equal([await stream.text, (await stream.usage).totalTokens, await stream.finishReason], ['Twenty-five days.', 17, 'stop'])
})

test('the AI SDK runs its tools and reads objects', async () => {
  const cadre = createAiSdk()
  fixture.provider.script = [callWeather, streamText('It is cold.')]
  const get_weather = createTool({ description: 'Get the weather.', inputSchema: city, execute: async (input) => `cold in ${input.city}` })
  const options = { model: cadre('Helper'), prompt: 'Weather?', tools: { get_weather }, stopWhen: stepCountIs(3) }
  assert.is((await generateText(options)).text, 'It is cold.')
  assert.match(fixture.lastBody.messages.at(-1).content, 'cold in Oslo')
  fixture.provider.script = [callWeather, streamText('It is cold.')]
  assert.is(await streamWithAiSdk(options).text, 'It is cold.')
  fixture.provider.script = [streamText('{"city":"Oslo"}')]
  assert.equal((await generateObject({ model: cadre('Scripted'), prompt: 'Where?', schema: city })).object, { city: 'Oslo' })
  assert.is(fixture.lastBody.response_format.type, 'json_schema')
})

test('the AI SDK embeds texts', async () => {
  const model = createAiSdk().textEmbeddingModel('minilm')
  const { embeddings } = await embedMany({ model, values: ['Annual leave', 'Weather'] })
  assert.equal([embeddings.length, embeddings[0]?.length], [2, 384])
})

test('LangChain chats, streams, calls tools and embeds', async () => {
  const configuration = { baseURL: fixture.baseUrl }
  const chat = new ChatOpenAI({ model: 'Helper', apiKey: ADMIN_TOKEN, configuration, maxRetries: 0 })
  const reply: Json = await chat.invoke('How many days?')
  assert.equal([reply.content, reply.usage_metadata?.total_tokens], ['Twenty-five days.', 17])
  let streamed = ''
  for await (const chunk of await chat.stream('How many days?')) streamed += chunk.content
  assert.is(streamed, 'Twenty-five days.')
  fixture.provider.script = [callWeather]
  const withTools = chat.bindTools([
    { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: {} } } },
  ])
  assert.equal((await withTools.invoke('Weather?')).tool_calls?.[0]?.args, { city: 'Oslo' })
  const embeddings = new OpenAIEmbeddings({ model: 'minilm', apiKey: ADMIN_TOKEN, configuration, maxRetries: 0 })
  assert.is((await embeddings.embedQuery('Annual leave')).length, 384)
})

test('LangChain uses responses', async () => {
  const chat = new ChatOpenAI({
    model: 'Helper',
    apiKey: ADMIN_TOKEN,
    configuration: { baseURL: fixture.baseUrl },
    useResponsesApi: true,
    maxRetries: 0,
  })
  assert.is((await chat.invoke('How many days?')).text, 'Twenty-five days.')
})

for (const useResponses of [true, false])
  test(`an agent of OpenAI's Agents SDK runs with ${useResponses ? 'responses' : 'chat completions'}`, async () => {
    const modelProvider = new OpenAIProvider({ openAIClient: fixture.client as never, useResponses })
    const runner = new Runner({ modelProvider, tracingDisabled: true })
    const execute = async (input: { city: string }) => `cold in ${input.city}`
    const get_weather = tool({ name: 'get_weather', description: 'Get the weather.', parameters: city, execute })
    const agent = new Agent({ name: 'Weather', instructions: 'Use tools.', model: 'Helper', tools: [get_weather] })
    fixture.provider.script = [callWeather, streamText('It is cold.')]
    assert.is((await runner.run(agent, 'Weather?')).finalOutput, 'It is cold.')
    assert.match(fixture.lastBody.messages.at(-1).content, 'cold in Oslo')
    fixture.provider.script = [callWeather, streamText('It is cold.')]
    const streamed = await runner.run(agent, 'Weather?', { stream: true })
    let text = ''
    for await (const part of streamed.toTextStream()) text += part
    assert.equal([text, streamed.finalOutput], ['It is cold.', 'It is cold.'])
  })

test.run()
