import type OpenAI from 'openai'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import { streamReply, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { OpenaiFixture } from './openai-fixture.ts'

const test = suite('openai client')
let fixture: OpenaiFixture
let client: OpenAI

test.before(
  reportFailure(async () => {
    fixture = await OpenaiFixture.open()
    client = fixture.client
  }),
)
test.before.each(() => {
  fixture.provider.script = [streamText('Twenty-five ', 'days.')]
})
test.after(reportFailure(() => fixture.close()))

const question = [{ role: 'user' as const, content: 'How many days of leave do I have?' }]
const weather = {
  name: 'get_weather',
  description: 'Get the weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const callWeather = streamReply({ calls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } }] })

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const part of stream) all.push(part)
  return all
}

test('models are agents and models by name', async () => {
  const models = await collect(await client.models.list())
  assert.equal(models.map(({ id }) => id).sort(), ['Embedded', 'Helper', 'Scripted', 'minilm'].sort())
  assert.equal((await client.models.retrieve('Helper')).owned_by, 'cadre')
  assert.equal(((await client.models.retrieve(fixture.model.id)) as Json).cadre, { type: 'model', id: fixture.model.id })
})

test('an agent and a model complete a chat', async () => {
  const { choices, usage, model, object } = await client.chat.completions.create({ model: 'Helper', messages: question })
  assert.equal(
    [choices[0]?.message.content, choices[0]?.finish_reason, model, object],
    ['Twenty-five days.', 'stop', 'Helper', 'chat.completion'],
  )
  assert.equal(usage, { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 })
  assert.equal(fixture.lastBody.messages[0], { role: 'system', content: 'Be brief.' })
  await client.chat.completions.create({ model: 'Scripted', messages: [{ role: 'developer', content: 'Rhyme.' }, ...question] })
  assert.equal(fixture.lastBody.messages, [{ role: 'system', content: 'Rhyme.' }, ...question])
})

test('a chat is streamed, with usage if requested', async () => {
  const stream = await client.chat.completions.create({
    model: 'Helper',
    messages: question,
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = await collect(stream)
  assert.is(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'Twenty-five days.')
  assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'stop')
  assert.equal([chunks.at(-1)?.choices, chunks.at(-1)?.usage?.total_tokens], [[], 17])
  const plain = await collect(await client.chat.completions.create({ model: 'Helper', messages: question, stream: true }))
  assert.ok(plain.every(({ usage }) => usage === undefined))
})

test('settings reach the model', async () => {
  await client.chat.completions.create({
    model: 'Helper',
    messages: question,
    temperature: 0.3,
    top_p: 0.9,
    max_completion_tokens: 50,
    stop: ['END'],
    seed: 7,
    presence_penalty: 0.5,
    response_format: { type: 'json_schema', json_schema: { name: 'days', schema: { type: 'object' }, strict: true } },
    user: 'ada',
  })
  const { temperature, top_p, max_tokens, stop, seed, presence_penalty, response_format } = fixture.lastBody
  assert.equal([temperature, top_p, max_tokens, stop, seed, presence_penalty], [0.3, 0.9, 50, ['END'], 7, 0.5])
  assert.equal(response_format, { type: 'json_schema', json_schema: { name: 'days', schema: { type: 'object' }, strict: true } })
  await client.chat.completions.create({ model: 'Helper', messages: question, response_format: { type: 'json_object' }, stop: 'END' })
  assert.equal([fixture.lastBody.response_format, fixture.lastBody.stop], [{ type: 'json_object' }, ['END']])
})

test('images reach the model as data URLs', async () => {
  const url = 'data:image/png;base64,aGVsbG8='
  const content = [
    { type: 'text' as const, text: 'What is this?' },
    { type: 'image_url' as const, image_url: { url } },
  ]
  await client.chat.completions.create({ model: 'Scripted', messages: [{ role: 'user', content }] })
  assert.equal(fixture.lastBody.messages[0].content, content)
})

test('the client executes its own tools and continues with their results', async () => {
  fixture.provider.script = [callWeather, streamText('It is cold.')]
  const tools = [{ type: 'function' as const, function: weather }]
  const first = await client.chat.completions.create({ model: 'Helper', messages: question, tools, tool_choice: 'required' })
  const [choice] = first.choices
  assert.equal([choice?.finish_reason, choice?.message.content], ['tool_calls', null])
  assert.equal(choice?.message.tool_calls, [
    { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
  ])
  assert.equal([fixture.lastBody.tool_choice, fixture.lastBody.tools[0].function.name], ['required', 'get_weather'])
  const messages = [...question, choice?.message, { role: 'tool' as const, tool_call_id: 'call_1', content: '-5 °C' }]
  const second = await client.chat.completions.create({ model: 'Helper', messages: messages as Json, tools })
  assert.is(second.choices[0]?.message.content, 'It is cold.')
  const sent = fixture.lastBody.messages
  assert.equal(
    sent.map(({ role }: Json) => role),
    ['system', 'user', 'assistant', 'tool'],
  )
  assert.match(sent[3].content, '-5 °C')
})

test('calls of tools are streamed, also to the runner of the client', async () => {
  fixture.provider.script = [callWeather, streamText('It is cold.')]
  const inputs: unknown[] = []
  const execute = (input: unknown) => {
    inputs.push(input)
    return 'cold'
  }
  const tools = [{ type: 'function', function: { ...weather, parse: JSON.parse, function: execute } }]
  const runner = client.chat.completions.runTools({ model: 'Helper', messages: question, stream: true, tools } as Json)
  assert.is(await runner.finalContent(), 'It is cold.')
  assert.equal(inputs, [{ city: 'Oslo' }])
})

test('a response is created and streamed', async () => {
  const response = await client.responses.create({ model: 'Helper', input: 'How many days?', instructions: 'In one sentence.' })
  assert.equal([response.output_text, response.status, response.usage?.total_tokens], ['Twenty-five days.', 'completed', 17])
  assert.equal(fixture.lastBody.messages[0].content, 'Be brief.\n\nIn one sentence.')
  const events = await collect(await client.responses.create({ model: 'Helper', input: 'How many days?', stream: true }))
  assert.equal(
    events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]),
    [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ],
  )
  assert.equal(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, at) => at),
  )
  const final = await client.responses.stream({ model: 'Helper', input: 'How many days?' }).finalResponse()
  assert.is(final.output_text, 'Twenty-five days.')
})

test('a response calls functions and continues with their outputs', async () => {
  fixture.provider.script = [callWeather, streamText('It is cold.')]
  const tools = [{ type: 'function' as const, ...weather, strict: false }]
  const first = await client.responses.create({ model: 'Helper', input: 'Weather?', tools })
  const call = first.output[0] as Json
  assert.equal([first.output.length, call.type, call.call_id, call.arguments], [1, 'function_call', 'call_1', '{"city":"Oslo"}'])
  const output = { type: 'function_call_output' as const, call_id: 'call_1', output: '-5 °C' }
  const second = await client.responses.create({ model: 'Helper', input: [{ role: 'user', content: 'Weather?' }, call, output], tools })
  assert.is(second.output_text, 'It is cold.')
})

test('a stored response is continued with previous_response_id, also with the output of a function', async () => {
  fixture.provider.script = [callWeather, streamText('It is cold.'), streamText('Very.')]
  const tools = [{ type: 'function' as const, ...weather, strict: false }]
  const first = await client.responses.create({ model: 'Helper', input: 'Weather?', tools, store: true })
  const output = { type: 'function_call_output' as const, call_id: 'call_1', output: '-5 °C' }
  const second = await client.responses.create({ model: 'Helper', input: [output], tools, previous_response_id: first.id })
  assert.is(second.output_text, 'It is cold.')
  assert.equal(
    fixture.lastBody.messages.map(({ role }: Json) => role),
    ['system', 'user', 'assistant', 'tool'],
  )
  const third = await client.responses.create({ model: 'Helper', input: 'How cold?', tools, previous_response_id: second.id })
  assert.is(third.output_text, 'Very.')
  assert.equal(
    fixture.lastBody.messages.map(({ role }: Json) => role),
    ['system', 'user', 'assistant', 'tool', 'assistant', 'user'],
  )
  const messages = await fixture.conversations.listMessages((third as Json).conversation.id)
  assert.equal(
    messages.map(({ role, content }) => [role, content]),
    [
      ['user', 'Weather?'],
      ['assistant', ''],
      ['assistant', 'It is cold.'],
      ['user', 'How cold?'],
      ['assistant', 'Very.'],
    ],
  )
})

test('a stored response is retrieved, also one with calls, and deleted', async () => {
  fixture.provider.script = [callWeather, streamText('It is cold.')]
  const tools = [{ type: 'function' as const, ...weather, strict: false }]
  const first = await client.responses.create({ model: 'Helper', input: 'Weather?', tools, store: true })
  const result = { type: 'function_call_output' as const, call_id: 'call_1', output: '-5 °C' }
  const second = await client.responses.create({ model: 'Helper', input: [result], tools, previous_response_id: first.id })
  const read = async (id: string) => (await client.responses.retrieve(id)) as Json
  assert.equal((await read(first.id)).output, first.output)
  const { output_text, status, usage, model, store, created_at } = await read(second.id)
  assert.equal([output_text, status, usage, model, store], ['It is cold.', 'completed', second.usage, 'Helper', true])
  assert.ok(Math.abs(created_at - second.created_at) <= 1)

  const { id } = (second as Json).conversation
  const listRoles = async () => (await fixture.conversations.listMessages(id)).map(({ role }) => role)
  await client.responses.delete(second.id)
  assert.equal(await listRoles(), ['user', 'assistant'], 'the first response still needs the question')
  await client.responses.delete(first.id)
  assert.is((await fixture.service.get(`/conversations/${id}`)).status, 404)
  for (const call of [read(first.id), client.responses.delete(first.id)])
    await call.then(
      () => assert.unreachable(),
      (error) => assert.equal([error.status, error.param], [404, 'response_id']),
    )
})

test('texts are embedded as numbers or base64', async () => {
  const { data, usage, model } = await client.embeddings.create({ model: 'minilm', input: ['Annual leave', 'Weather'] })
  assert.equal([data.length, data[0]?.embedding.length, data[1]?.index, model], [2, 384, 1, 'minilm'])
  assert.ok(usage.prompt_tokens > 0)
  const { data: floats } = await client.embeddings.create({ model: 'minilm', input: 'Annual leave', encoding_format: 'float' })
  assert.ok(Math.abs((floats[0]?.embedding[0] ?? 0) - (data[0]?.embedding[0] ?? 1)) < 1e-6)
})

test.run()
