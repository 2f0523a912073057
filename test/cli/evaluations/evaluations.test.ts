/** Tests of the `evaluations` commands and of recordings against a real daemon. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EXIT } from '../../../src/cli/terminal/failures/exit-codes.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { hang, respondWithError, ScriptedProvider, streamReply } from '../../harness/scripted-provider.ts'
import type { Json } from '../../harness/test-server.ts'

const test = suite('evaluations at the terminal')
let terminal: Terminal
let provider: ScriptedProvider
let count = 0
let agent: Json
let scripted: Json

const file = (name: string) => join(terminal.home, '..', name)
const setModel = async (model: Json) =>
  assert.is((await terminal.request('PUT', `/agents/${agent.id}`, { model_id: model.id })).status, 200)
const ok = async (words: string[]) => {
  const ran = await terminal.run(words)
  assert.is(ran.code, 0, `${words.join(' ')}: ${ran.stderr}`)
  return ran
}

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    provider = await ScriptedProvider.start(
      'openai',
      streamReply(({ body }) => ({ text: [`${body.messages.at(-1).content} `, String(++count)] })),
    )
    await ok(['daemon', 'start'])
    scripted = (await terminal.request('POST', '/models', { name: 'Scripted', ...provider.model, pricing: { input: 0, output: 0 } })).data
    agent = (await terminal.request('POST', '/agents', { name: 'Echo', model_id: scripted.id })).data
    writeFileSync(file('cases.csv'), 'input,expected_output,team\ngreen,green,a\nblue,red,b\n')
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    await provider.close()
  }),
)

test('create reads an evaluation from a CSV file', async () => {
  const made = await terminal.json<Json>(['evaluations', 'create', '--file', file('cases.csv'), '--target', 'Echo'])
  assert.equal([made.name, made.type, made.test_cases.length, made.test_cases[0].metadata], ['cases', 'agent', 2, { team: 'a' }])
})

test('update --file replaces the test cases and changes nothing else', async () => {
  writeFileSync(file('newer.csv'), 'input,expected_output\nyellow,yellow\n')
  const changed = await terminal.json<Json>(['evaluations', 'update', 'cases', '--file', file('newer.csv')])
  assert.equal([changed.name, changed.type, changed.test_cases], ['cases', 'agent', [{ input: 'yellow', expected_output: 'yellow' }]])
  await ok(['evaluations', 'update', 'cases', '--file', file('cases.csv')])
})

test('an invalid test case is reported with its line or number in the file', async () => {
  writeFileSync(file('wrong.jsonl'), '{"input":"a"}\n\n{"inptu":"b"}\n')
  const made = await terminal.run(['evaluations', 'create', '--file', file('wrong.jsonl'), '--target', 'Echo'])
  assert.equal([made.code, /Rejected: line 3 of .*wrong\.jsonl\./.test(made.stderr)], [2, true])
  writeFileSync(file('wrong.csv'), 'input,expected_output\na,b\n,c\n')
  const changed = await terminal.run(['evaluations', 'update', 'cases', '--file', file('wrong.csv')])
  assert.equal([changed.code, /Rejected: test case 2 of .*wrong\.csv\./.test(changed.stderr)], [2, true])
})

test('run prints the failed results with expected and actual output', async () => {
  const { stdout } = await ok(['evaluations', 'run', 'cases'])
  for (const text of ['✗ 2  blue', 'expected red', 'actual   blue', '50 %  1 of 2 passed, 1 failed']) assert.match(stdout, text)
  assert.match(stdout, /· cost 0 USD$/m)
  assert.not.match(stdout, 'green')
})

test('run exits with 100 below --fail-under, and writes JUnit XML', async () => {
  const { code, stderr } = await terminal.run(['evaluations', 'run', 'cases', '--fail-under', '0.9', '--junit', file('report.xml')])
  assert.is(code, 100)
  assert.match(stderr, 'The pass rate 0.500 is below 0.9')
  assert.match(readFileSync(file('report.xml'), 'utf8'), 'tests="2" failures="1" errors="0"')
  assert.is((await terminal.run(['evaluations', 'run', 'cases', '--fail-under', '0.5'])).code, 0)
  assert.is((await terminal.run(['evaluations', 'run', 'cases', '--fail-under', '90'])).code, 2)
})

test('a JUnit file that cannot be written is rejected before the run', async () => {
  const before = provider.received.length
  const { code, stderr } = await terminal.run(['evaluations', 'run', 'cases', '--junit', file('nowhere/report.xml')])
  assert.equal([code, provider.received.length], [2, before])
  assert.match(stderr, /nowhere\/report\.xml cannot be written/)
})

test('--no-wait cannot be combined with --fail-under or --junit, and a failed start leaves no report', async () => {
  const { code, stderr } = await terminal.run([
    'evaluations',
    'run',
    'cases',
    '--no-wait',
    '--fail-under',
    '0.9',
    '--junit',
    file('early.xml'),
  ])
  assert.is(code, 2)
  assert.match(stderr, '--fail-under and --junit cannot be used with --no-wait')
  assert.is((await terminal.run(['evaluations', 'run', 'no such', '--junit', file('early.xml')])).code, 3)
  assert.not.ok(existsSync(file('early.xml')))
})

test('run exits with 100 if it is worse than its baseline', async () => {
  assert.is((await terminal.run(['evaluations', 'run', 'cases', '--baseline', 'last'])).code, 0)
  provider.script = [streamReply({ text: ['nothing'] })]
  const { code, stdout } = await terminal.run(['evaluations', 'run', 'cases', '--baseline', 'last'])
  assert.is(code, 100)
  assert.match(stdout, '▼ worse  1  green')
  assert.match(stdout, 'not significant  pass rate 50 % → 0 %')
  assert.match((await ok(['evaluations', 'compare', 'cases'])).stdout, '0 better · 1 worse · 1 unchanged')
  provider.script = [streamReply(({ body }) => ({ text: [`${body.messages.at(-1).content} `, String(++count)] }))]
})

test('an added test case does not count as worse than the baseline', async () => {
  writeFileSync(file('harder.csv'), 'input,expected_output\ngreen,green\nblue,red\nblack,white\n')
  await ok(['evaluations', 'run', 'cases', '-q'])
  await ok(['evaluations', 'update', 'cases', '--file', file('harder.csv')])
  const { stdout } = await ok(['evaluations', 'run', 'cases', '--baseline', 'last'])
  assert.match(stdout, '0 better · 0 worse · 2 unchanged · 1 new')
  await ok(['evaluations', 'update', 'cases', '--file', file('cases.csv')])
})

test('results lists failures first, and prints JSON', async () => {
  await ok(['evaluations', 'run', 'cases', '-q'])
  const { stdout } = await ok(['evaluations', 'results', 'cases'])
  assert.ok(stdout.indexOf('blue') < stdout.indexOf('green'))
  const failed = await terminal.json<Json>(['evaluations', 'results', 'cases', '--failed'])
  assert.equal([failed.results.length, failed.results[0].input, failed.configuration.evaluation.type], [1, 'blue', 'agent'])
  assert.is((await terminal.json<Json[]>(['evaluations', 'runs', 'cases'])).length, 8)
})

test('report writes HTML and prints Markdown, for a run or the newest run of an evaluation', async () => {
  const [newest, before] = await terminal.json<Json[]>(['evaluations', 'runs', 'cases'])
  const { stderr } = await ok(['evaluations', 'report', newest?.run_id, '--baseline', before?.run_id, '--html', file('report.html')])
  assert.match(stderr, `Wrote ${file('report.html')}.`)
  const page = readFileSync(file('report.html'), 'utf8')
  for (const text of ['<title>cases</title>', 'Pass rate of the last 8 runs', 'Failed (1)', 'Passed (1)', before?.run_id])
    assert.match(page, text)
  const { stdout: markdown } = await ok(['evaluations', 'report', 'cases', '--baseline', 'last', '--markdown'])
  assert.match(markdown, '### Evaluation `cases`: 50 % passed')
  assert.match(markdown, `Run \`${newest?.run_id}\`, baseline \`${before?.run_id}\``)
  assert.match((await ok(['evaluations', 'report', 'cases', '--html', '-'])).stdout, /^<!doctype html>/)
})

test('report prints a summary with the trend, and JSON', async () => {
  const { stdout } = await ok(['evaluations', 'report', 'cases', '--baseline', 'last'])
  assert.match(stdout, '50 %  1 of 2 passed')
  assert.match(stdout, /Pass rate {2}[▁-█]{8} {2}50 % to 50 % in 8 runs/)
  assert.match(stdout, 'pass rate 33 % → 50 %')
  const report = await terminal.json<Json>(['evaluations', 'report', 'cases', '--baseline', 'last'])
  assert.equal([report.trend.length, report.comparison.b.run_id], [8, report.run_id])
  const plain = await terminal.run(['evaluations', 'report', 'cases'], { environment: { TERM: 'dumb' } })
  assert.match(plain.stdout, 'Pass rate: 0 % to 50 %, last 50 %')
})

test('report rejects unknown runs, files that cannot be written, and formats that exclude each other', async () => {
  const unknown = await terminal.run(['evaluations', 'report', 'run_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a', '--markdown'])
  assert.equal([unknown.code, /run/.test(unknown.stderr)], [EXIT.notFound, true])
  const unwritable = await terminal.run(['evaluations', 'report', 'cases', '--html', file('nowhere/report.html')])
  assert.equal([unwritable.code, /nowhere\/report\.html cannot be written/.test(unwritable.stderr)], [2, true])
  const existing = await terminal.run(['evaluations', 'report', 'cases', '--html', file('report.html')])
  assert.equal([existing.code, /report\.html already exists/.test(existing.stderr)], [2, true])
  assert.is((await terminal.run(['evaluations', 'report', 'cases', '--html', file('x.html'), '--markdown'])).code, 2)
  assert.is((await terminal.run(['evaluations', 'report', 'cases', '--html', file('x.html'), '--json'])).code, 2)
  assert.not.ok(existsSync(file('x.html')))
})

test('promote adds the last reply as a test case', async () => {
  const { id } = (await terminal.request('POST', '/conversations', { agent_id: agent.id })).data
  const empty = await terminal.run(['conversations', 'promote', id, '--to', 'cases'])
  assert.equal([empty.code, /no reply yet/.test(empty.stderr)], [2, true])
  assert.is((await terminal.request('POST', `/conversations/${id}/messages`, { message: 'hello' })).status, 200)
  await ok(['conversations', 'promote', id, '--to', 'cases', '--expect', 'hello'])
  const { test_cases } = await terminal.json<Json>(['evaluations', 'show', 'cases'])
  assert.equal(
    [test_cases.length, test_cases[2].input, test_cases[2].expected_output, test_cases[2].metadata.conversation_id],
    [3, 'hello', 'hello', id],
  )
})

test('promote accepts a failed reply only with --expect', async () => {
  const { id } = (await terminal.request('POST', '/conversations', { agent_id: agent.id })).data
  const usual = provider.script
  provider.script = [respondWithError(400)]
  assert.is((await terminal.request('POST', `/conversations/${id}/messages`, { message: 'bye' })).status, 502)
  provider.script = usual
  const { code, stderr } = await terminal.run(['conversations', 'promote', id, '--to', 'cases'])
  assert.equal([code, /was not finished/.test(stderr), /--expect/.test(stderr)], [2, true, true])
  await ok(['conversations', 'promote', id, '--to', 'cases', '--expect', 'bye'])
})

test('recordings of a replay model are exported, imported into another model and replayed', async () => {
  await setModel(await terminal.json(['models', 'create', '--name', 'Recorded', '--provider', 'replay', '--model-id', 'Scripted']))
  await ok(['evaluations', 'run', 'cases', '-q'])
  const asked = provider.received.length
  const first = await terminal.json<Json>(['evaluations', 'results', 'cases'])
  await ok(['models', 'recordings', 'export', 'Recorded', '--to', file('recordings.jsonl')])
  const elsewhere = ['models', 'create', '--name', 'Elsewhere', '--provider', 'replay', '--model-id', 'gone', '--no-recording']
  await setModel(await terminal.json(elsewhere))
  await ok(['models', 'recordings', 'import', 'Elsewhere', file('recordings.jsonl')])
  await ok(['evaluations', 'run', 'cases', '-q'])
  const again = await terminal.json<Json>(['evaluations', 'results', 'cases'])
  const outputs = ({ results }: Json) => results.map(({ actual_output }: Json) => actual_output).sort()
  assert.equal([outputs(again), provider.received.length], [outputs(first), asked])
  assert.is((await terminal.run(['models', 'recordings', 'clear', 'Elsewhere'])).code, 2)
  assert.match((await ok(['models', 'recordings', 'clear', 'Elsewhere', '--yes'])).stderr, 'Deleted 4 recordings')
})

test('a cancelled run fails without checking its pass rate', async () => {
  await setModel(scripted)
  provider.script = [hang]
  const asked = provider.nextRequest()
  const running = terminal.run(['evaluations', 'run', 'cases', '--fail-under', '0.9'])
  await asked
  await ok(['evaluations', 'cancel', 'cases'])
  const { code, stderr } = await running
  assert.equal([code, /not completed \(cancelled\)/.test(stderr)], [1, true])
})

test('a daemon that dies during a run is reported with how to resume', async () => {
  provider.script = [hang]
  const asked = provider.nextRequest()
  const running = terminal.run(['evaluations', 'run', 'cases'])
  await asked
  process.kill(JSON.parse(readFileSync(join(terminal.home, 'daemon.json'), 'utf8')).pid, 'SIGKILL')
  const { code, stderr } = await running
  assert.is(code, EXIT.unreachable)
  assert.match(
    stderr,
    /The connection to the daemon was lost during the run\.\n.*cadre daemon start\n.*cadre evaluations results cases --run run_/,
  )
})

test.run()
