/** Tests of reading test cases from files and of JUnit reports. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatJunit } from '../../../src/cli/evaluations/format-junit.ts'
import { readEvaluations } from '../../../src/cli/evaluations/read-test-cases.ts'
import { parseCsv } from '../../../src/cli/input/csv.ts'
import { InputReader } from '../../../src/cli/input/input-reader.ts'
import type { UsageError } from '../../../src/cli/terminal/failures/command-errors.ts'

const test = suite('test cases from files, and results for CI')
const folder = mkdtempSync(join(tmpdir(), 'cadre-cases-'))
test.after(() => rmSync(folder, { recursive: true }))

async function read(name: string, content: string) {
  const file = join(folder, name)
  writeFileSync(file, content)
  return readEvaluations(file, new InputReader())
}
const cases = async (name: string, content: string) => (await read(name, content)).bodies[0]?.test_cases

test('CSV follows RFC 4180: quoted cells, byte order mark, any line ending', async () => {
  assert.equal(await parseCsv('a,b\r\n"x ""y"", z","1\n2"\n,\n\n'), [
    ['a', 'b'],
    ['x "y", z', '1\n2'],
    ['', ''],
  ])
  assert.equal(await parseCsv('\uFEFFa,\nb'), [['a', ''], ['b']])
  assert.equal(await parseCsv(''), [])
})

test('CSV with an unclosed quote names the row in which it opens', async () => {
  const error = await parseCsv('a\n"b\nc\nd').catch((reason: Error) => reason)
  assert.match(String(error), 'Row 2 has an unmatched quote.')
})

test('a file without an extension is read as what its text is, and the error names the formats', async () => {
  assert.equal(await cases('63', 'input,expected_output\na,b\n'), [{ input: 'a', expected_output: 'b' }])
  assert.equal(await cases('64', '{"input":"a"}\n{"input":"b"}\n'), [{ input: 'a' }, { input: 'b' }])
  const error = await read('65', 'question,answer\na,b\n').catch((reason: UsageError) => reason)
  assert.match((error as UsageError).hint ?? '', 'The format follows the extension: .csv, .tsv, .jsonl, .json or .yaml.')
})

test('columns of a CSV file become fields of a test case, and unknown ones metadata', async () => {
  const table = 'input,expected_output,expected_sources,metadata.kind,variables.name,team\n"a, b",c,x.md; y.md,easy,Ada,red\nd,,,,,\n'
  assert.equal(await cases('leave.csv', table), [
    {
      input: 'a, b',
      expected_output: 'c',
      expected_sources: ['x.md', 'y.md'],
      metadata: { kind: 'easy', team: 'red' },
      variables: { name: 'Ada' },
    },
    { input: 'd' },
  ])
  assert.equal((await read('leave.csv', table)).defaults?.name, 'leave')
})

test('test cases are read from JSON Lines and YAML, and evaluations from YAML', async () => {
  assert.equal(await cases('a.jsonl', '{"input": "a"}\n\n{"input": "b"}\n'), [{ input: 'a' }, { input: 'b' }])
  assert.equal(await cases('a.yaml', '- input: a\n  expected_output: b\n- input: c\n'), [
    { input: 'a', expected_output: 'b' },
    { input: 'c' },
  ])
  assert.equal((await read('whole.yaml', 'name: x\ntype: model\ntest_cases: [{input: a}]\n')).bodies, [
    { name: 'x', type: 'model', test_cases: [{ input: 'a' }] },
  ])
})

test('byte order marks and CRLF line ends are accepted', async () => {
  assert.equal(await cases('w.jsonl', '\uFEFF{"input": "a"}\r\n\r\n{"input": "b"}\r\n'), [{ input: 'a' }, { input: 'b' }])
  assert.equal(await cases('w.yaml', '\uFEFF- input: a\r\n  expected_output: b\r\n'), [{ input: 'a', expected_output: 'b' }])
  assert.equal(await cases('w.json', '\uFEFF[{"input": "a"}]'), [{ input: 'a' }])
  assert.equal(await cases('w.csv', '\uFEFFinput,expected_output,,\r\na,b,,,\r\n'), [{ input: 'a', expected_output: 'b' }])
})

test('columns may have other spellings, and CSV other separators', async () => {
  const wanted = [{ input: 'a, b', expected_output: 'c', metadata: { Team: 'red' } }]
  assert.equal(await cases('s.csv', 'Input, Expected Output ,Team\n"a, b",c,red\n'), wanted)
  assert.equal(await cases('s.csv', 'input,expected,Team\n"a, b",c,red\n'), wanted)
  assert.equal(await cases('s.csv', 'INPUT;expected-output;Team\r\na, b;c;red\r\n'), wanted)
  assert.equal(await cases('s.tsv', 'input\texpected_output\tTeam\na, b\tc\tred\n'), wanted)
})

test('YAML anchors and merge keys are resolved', async () => {
  const text = '- &first\n  input: a\n  expected_output: x\n- <<: *first\n  input: b\n'
  assert.equal(await cases('m.yaml', text), [
    { input: 'a', expected_output: 'x' },
    { input: 'b', expected_output: 'x' },
  ])
})

test('the format of stdin is detected from its content', async () => {
  const piped = async (text: string) => {
    const reader = new InputReader()
    reader.readFile = async () => text
    return (await readEvaluations('-', reader)).bodies
  }
  const two = [{ test_cases: [{ input: 'a' }, { input: 'b' }] }]
  assert.equal(await piped('input\na\nb\n'), two)
  assert.equal(await piped('"Input";topic\r\na;\r\nb;\r\n'), two)
  assert.equal(await piped('{"input": "a"}\n{"input": "b"}\n'), two)
  assert.equal(await piped('- input: a\n- input: b\n'), two)
  assert.equal(await piped('[\n  {"input": "a"},\n  {"input": "b"}\n]\n'), two)
  assert.equal(await piped('{\n"name": "x", "test_cases": []}'), [{ name: 'x', test_cases: [] }])
  assert.equal(await piped('{"name": "x", "test_cases": []}\n'), [{ name: 'x', test_cases: [] }])
  const broken = await piped('{"input": "a"}\n{"input":\n').catch((error: Error) => error)
  assert.match((broken as Error).message, /^Line 2 of Stdin is not valid JSON/)
})

test('metadata and variables columns may contain JSON objects', async () => {
  assert.equal(await cases('o.csv', 'input,metadata,variables,variables.age,team\na,"{""kind"":1}","{""name"":""Ada""}",36,red\n'), [
    { input: 'a', metadata: { kind: 1, team: 'red' }, variables: { name: 'Ada', age: '36' } },
  ])
})

test('an invalid file is reported with the location of the problem', async () => {
  const assertFails = async (name: string, content: string, message: RegExp) => {
    const error = await read(name, content).catch((caught: Error) => caught)
    assert.match((error as Error).message, message)
  }
  await assertFails('a.csv', 'question,answer\na,b\n', /no column "input"/)
  await assertFails('a.csv', 'input\n"a', /not CSV: Row 2 has an unmatched quote/)
  await assertFails('a.jsonl', '{"input": "a"}\n{"input":\n', /Line 2 of .*a\.jsonl/)
  await assertFails('a.csv', 'input,expected_output\na,b\nc,d, e\n', /Test case 2 of .*a\.csv has 3 cells for 2 columns/)
  await assertFails('a.csv', 'input,input\na,b\n', /two columns "input"/)
  await assertFails('a.csv', 'input,variables\na,name=Ada\n', /Test case 1 of .*a\.csv, column "variables", is not valid JSON/)
  await assertFails('a.csv', 'input,variables\na,[1]\n', /is not an object/)
  await assertFails('a.csv', 'input\n', /contains no test cases/)
})

test('JUnit XML escapes special characters and distinguishes failures from errors', () => {
  const result = {
    position: 0,
    repeat: 1,
    input: 'a <b> & "c"\u0000',
    expected_output: 'x',
    actual_output: 'y',
    latency_ms: 1500,
    usage: null,
    cost: null,
    metadata: {},
    citations: [],
  }
  const xml = formatJunit('A & B', [
    { ...result, passed: true, score: 1, scores: {}, error: null },
    { ...result, passed: false, score: 0, scores: { exact: { score: 0, passed: false, reason: 'no' } }, error: null },
    { ...result, passed: false, score: null, scores: {}, error: 'timeout' },
    {
      ...result,
      passed: false,
      score: 0.5,
      scores: { latency: { score: 0.5, passed: false, threshold: 750, latency_ms: 1500 } },
      error: null,
    },
  ])
  assert.match(xml, 'tests="4" failures="2" errors="1" time="6.000"')
  assert.match(xml, '<failure message="score 0.50: latency: 1500 ms (at most 750 ms)">')
  assert.match(xml, 'a &lt;b&gt; &amp; &quot;c&quot;\ufffd')
  assert.match(xml, '<failure message="score 0.00: exact: no">')
  assert.match(xml, '<error message="timeout">')
  assert.not.match(xml, '\u0000')
})

test.run()
