import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Barrier } from '../harness/barrier.ts'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { hang, type ReceivedRequest, ScriptedProvider, type Step, streamReply } from '../harness/scripted-provider.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { waitForEnd } from './evaluation-fixture.ts'

const test = suite('evaluation runs with faults')
let service: TestServer
let resources: Resources
let provider: ScriptedProvider

const getInput = ({ body }: ReceivedRequest): string => body.messages.at(-1).content
const isJudge = ({ body }: ReceivedRequest): boolean => body.messages[0].content.startsWith('You grade')
const echo = streamReply((received) => ({ text: [getInput(received)], usage: { input: 11, output: 7, cached: 0 } }))
/** Repeats the question as the answer; requests to the judge run the given handler. */
const judging =
  (step: Step): Step =>
  (response, received, wire) =>
    (isJudge(received) ? step : echo)(response, received, wire)

test.before(
  reportFailure(async () => {
    service = await TestServer.start()
    resources = new Resources(service)
    provider = await ScriptedProvider.start('openai', echo)
  }),
)
test.after(
  reportFailure(async () => {
    await service.close()
    await provider.close()
  }),
)
test.before.each(() => {
  provider.received.length = 0
  provider.script = [echo]
})

const agent = async () => resources.agent({ model_id: (await resources.model(provider.model)).id })
const begin = async (id: string): Promise<string> => (await expectData(service.post(`/evaluations/${id}/run`))).run_id
const tokens = async (id: string): Promise<number> =>
  (await expectData(service.get(`/usage/stats?entity_type=evaluation&entity_id=${id}`))).total_tokens

test('a run completes whatever the judge returns, with a score or an error per test case', async () => {
  const target = await agent()
  const said = {
    ' ': null,
    'Très bien, rien à redire.': null,
    '{"score": 7, "reason": "of ten"}': null,
    '{"score": null}': null,
    [`${'blah '.repeat(50_000)}`]: null,
    [`${'['.repeat(20_000)}`]: null,
    [`Voilà : {"score": 0.8, "reason": "${'très bien '.repeat(1_000)}"}`]: 0.8,
    '```json\n{"score": "1", "reason": "نعم ✅"}\n```': 1,
  }
  const judge = await resources.model(provider.model)
  for (const [text, score] of Object.entries(said)) {
    provider.script = [judging(streamReply({ text: [text], usage: { input: 11, output: 7, cached: 0 } }))]
    const { id } = await resources.evaluation({
      target_id: target.id,
      scorers: [{ type: 'llm_judge', model_id: judge.id }],
      test_cases: [{ input: 'q', expected_output: 'a' }],
    })
    const { status, results } = await waitForEnd(service, id, await begin(id))
    assert.equal([status, results[0].score, results[0].error === null], ['completed', score, score !== null], text.slice(0, 50))
    assert.is(await tokens(id), score === null ? 54 : 36, 'usage of every call is counted')
  }
})

test('cancelling a run aborts the judge, and the answer is counted once', async () => {
  provider.script = [judging(hang)]
  const scorers = [{ type: 'llm_judge', model_id: (await resources.model(provider.model)).id }]
  const { id } = await resources.evaluation({ target_id: (await agent()).id, scorers, test_cases: [{ input: 'q', expected_output: 'q' }] })
  const run = await begin(id)
  await waitFor(async () => provider.received.some(isJudge))
  await expectData(service.post(`/evaluations/${id}/runs/${run}/cancel`))
  await provider.received.find(isJudge)?.closed
  const { status, results, summary } = await waitForEnd(service, id, run)
  assert.equal([status, results, summary.errors], ['cancelled', [], 0])
  assert.ok((await tokens(id)) >= 18)
})

test('a run continues with the stored configuration after its target was deleted', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  provider.script = [
    async (response, received, wire) => {
      await held
      return echo(response, received, wire)
    },
  ]
  const target = await agent()
  const test_cases = Array.from({ length: 20 }, (_, index) => ({ input: `case ${index}`, expected_output: `case ${index}` }))
  const { id } = await resources.evaluation({ target_id: target.id, test_cases, concurrency: 2 })
  const run = await begin(id)
  await waitFor(async () => provider.received.length >= 2)
  await expectData(service.delete(`/agents/${target.id}?force=true`))
  release()
  const { status, summary } = await waitForEnd(service, id, run)
  assert.equal([status, summary.passed], ['completed', 20])
})

test('concurrent runs of one evaluation have separate results', async () => {
  const test_cases = Array.from({ length: 40 }, (_, index) => ({ input: `case ${index}`, expected_output: `case ${index}` }))
  const { id } = await resources.evaluation({ target_id: (await agent()).id, test_cases, concurrency: 16 })
  const runs = await Promise.all([begin(id), begin(id)])
  for (const run of runs) {
    const { summary, results } = await waitForEnd(service, id, run)
    assert.equal([summary.passed, results.length], [40, 40])
  }
  assert.equal([await tokens(id), provider.received.length], [2 * 40 * 18, 80])
})

test('a run uses its concurrency and never exceeds it', async () => {
  const test_cases = Array.from({ length: 60 }, (_, index) => ({ input: `case ${index}`, expected_output: `case ${index}` }))
  for (const fields of [{ target_id: (await agent()).id }, { type: 'model', target_id: (await resources.model(provider.model)).id }]) {
    const barrier = new Barrier(3)
    provider.script = [
      async (response, received, wire) => {
        await barrier.pass()
        return echo(response, received, wire)
      },
    ]
    const { id } = await resources.evaluation({ ...fields, test_cases, concurrency: 3 })
    const { summary } = await waitForEnd(service, id, await begin(id))
    assert.equal([summary.passed, barrier.most], [60, 3])
  }
})

test('invalid characters in answers are replaced', async () => {
  const text = 'a "quote", a \\ and half a character: \ud83d, none: \u0000.'
  provider.script = [streamReply({ text: [text] })]
  const { id } = await resources.evaluation({
    target_id: (await agent()).id,
    test_cases: [{ input: 'q', expected_output: 'half a character' }],
  })
  const [{ actual_output, passed, error }] = (await waitForEnd(service, id, await begin(id))).results
  assert.equal([actual_output, passed, error], [text.replaceAll(/[\ud83d\0]/g, '\ufffd'), true, null])
})

test('texts in any script are sent, stored and scored unchanged', async () => {
  const emoji = ['🏳️‍🌈👩‍👩‍👧‍👦', '\ud83d\ude00'.repeat(3)]
  const texts = [...emoji, 'مرحبا \u202eبالعالم\u202c', 'שלום', '\u0001', 'e\u0301', '𝕿𝖊𝖘𝖙', 'a\u2028b']
  const test_cases = texts.map((input) => ({ input, expected_output: input, scorers: ['exact', 'contains', 'token_f1'] }))
  const { id } = await resources.evaluation({ target_id: (await agent()).id, test_cases })
  const { results } = await waitForEnd(service, id, await begin(id))
  assert.equal(
    results.map(({ actual_output }: Json) => actual_output),
    texts,
  )
  for (const { input, passed, scores } of results) assert.ok(passed, `${JSON.stringify(input)}: ${JSON.stringify(scores)}`)
})

test('a test case fails if one scorer fails, and reports every score', async () => {
  const scorers = ['exact', 'regex', 'json', 'exact', { type: 'latency', threshold: 0 }]
  const { id } = await resources.evaluation({
    target_id: (await agent()).id,
    scorers,
    test_cases: [{ input: '[1]', expected_output: '[1]' }],
  })
  const [{ passed, scores, error }] = (await waitForEnd(service, id, await begin(id))).results
  assert.equal([passed, error, Object.keys(scores)], [false, null, ['exact', 'regex', 'json', 'exact_2', 'latency']])
  assert.equal(
    ['exact', 'regex', 'json', 'exact_2'].map((name) => scores[name].passed),
    [true, true, true, true],
  )
})

test.run()
