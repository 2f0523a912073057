/** Tests of `rag query` and `retrieval search` against a real daemon and the real embedded models. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const LEAVE = '# Leave\n\n## Annual\n\nEvery employee gets twenty-five days of paid annual leave.\n'
const TRAVEL = '# Travel\n\n## Hotels\n\nA hotel in Lisbon may cost up to 140 euros a night.\n'

const test = suite('search at the terminal')
let terminal: Terminal
let place: string

const ok = async (words: string[], options?: Parameters<Terminal['run']>[1]) => {
  const ran = await terminal.run(words, options)
  assert.is(ran.code, 0, `${words.join(' ')}: ${ran.stderr}`)
  return ran
}

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    place = mkdtempSync(join(tmpdir(), 'cadre-search-'))
    mkdirSync(join(place, 'handbook', 'policies'), { recursive: true })
    writeFileSync(join(place, 'handbook', 'leave.md'), LEAVE)
    writeFileSync(join(place, 'handbook', 'policies', 'travel.md'), TRAVEL)
    await ok(['knowledge', 'add', './handbook'], { cwd: place })
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    rmSync(place, { recursive: true, force: true })
  }),
)

test('rag query prints the answer and then its passages with their headings', async () => {
  const { stdout } = await ok(['rag', 'query', 'handbook', 'How many days of leave do I have?'])
  const [answer = ''] = stdout.split(/^\[1\]/m)
  assert.match(answer, /twenty-five days.*” \[1\]/)
  assert.match(stdout, /^\[1\] leave\.md · Leave\b/m)
  assert.not.match(stdout, '\u001b')
})

test('rag query prints the passages that the answer cites, and all with --all', async () => {
  const asked = ['rag', 'query', 'handbook', 'How many days of leave do I have?']
  assert.not.match((await ok(asked)).stdout, /travel\.md|not cited/)
  assert.match((await ok([...asked, '--all'])).stdout, /^\[2\] policies\/travel\.md.*\n {4}(?:not cited|only loosely related)$/m)
})

test('rag query accepts unquoted words or stdin, and highlights the words of the question', async () => {
  const words = ['rag', 'query', 'handbook', '--top-k', '1']
  const piped = await ok([...words, '-'], { input: 'What may a hotel cost?\n', environment: { FORCE_COLOR: '1', NO_COLOR: undefined } })
  assert.match(piped.stdout, '\u001b[33mhotel\u001b[39m')
  const bare = await terminal.json<{ query: string; results: unknown[] }>([...words, 'What', 'may', 'a', 'hotel', 'cost'])
  assert.equal([bare.query, bare.results.length], ['What may a hotel cost', 1])
  assert.is((await terminal.run([...words, '-'], { input: '  \n' })).code, 2)
})

test('--filter selects documents, and a filter without a value is rejected', async () => {
  const asked = ['rag', 'query', 'handbook', 'What does a hotel cost?']
  const found = await terminal.json<{ results: { metadata: { source: string } }[] }>([
    ...asked,
    '--filter',
    'source=leave.md',
    '--filter',
    'type=md',
  ])
  assert.equal([...new Set(found.results.map(({ metadata }) => metadata.source))], ['leave.md'])
  assert.is((await terminal.run([...asked, '--filter', 'source'])).code, 2)
})

test('a missing tool is reported with the command that creates it', async () => {
  assert.is((await terminal.run(['rag', 'query', 'nobody', 'x'])).code, 3)
  const { code, stderr } = await terminal.run(['retrieval', 'search', 'handbook', 'hotel'])
  assert.is(code, 3)
  assert.match(stderr, 'cadre retrieval create --name handbook --knowledge-source handbook')
})

test('retrieval search prints passages with scores, and --explain adds ranks and timings', async () => {
  await terminal.json(['retrieval', 'create', '--name', 'find', '--knowledge-source', 'handbook'])
  const plain = await ok(['retrieval', 'search', 'find', 'hotel price in Lisbon', '--top-k', '1'])
  assert.match(plain.stdout, /^\[1\] policies\/travel\.md · Travel\b.*\n {4}score \d\.\d{3}\n {4}A hotel in Lisbon/)
  const { stdout, stderr } = await ok(['retrieval', 'search', 'find', 'hotel price in Lisbon', '--explain'])
  assert.match(stdout, /semantic #1 · full text #1 · fused \d\.\d{3}/)
  for (const stage of ['embed', 'semantic', 'full text', 'total']) assert.match(stderr, new RegExp(`${stage} \\d+\\.\\d ms`))
  const none = await ok(['retrieval', 'search', 'find', 'hotel', '--filter', 'source=nothing.md'])
  assert.equal([none.stdout, none.stderr], ['', 'No passages found.\n'])
  const loose = await ok(['retrieval', 'search', 'find', 'zzz'])
  assert.match(loose.stderr, 'No good match for "zzz"; these passages are only loosely related.')
  assert.match(loose.stdout, /score \d\.\d{3} · only loosely related/)
  assert.match((await ok(['rag', 'query', 'handbook', 'zzz'])).stdout, /\n {4}only loosely related\n/)
})

test('--rerank and --no-rerank override the setting of a tool, and --explain shows the score and time of reranking', async () => {
  const question = ['find', 'What does a hotel in Lisbon cost?']
  const reranked = await ok(['retrieval', 'search', ...question, '--rerank', '--explain'])
  assert.match(reranked.stdout, /fused \d\.\d{3} · rerank \d\.\d{3} · score \d\.\d{3}/)
  assert.match(reranked.stderr, /rerank \d+\.\d ms/)
  assert.not.match((await ok(['retrieval', 'search', ...question, '--explain'])).stdout, 'rerank')
  const listScores = async (...flags: string[]) => {
    const words = ['rag', 'query', 'handbook', 'What does a hotel in Lisbon cost?', ...flags]
    return (await terminal.json<{ results: { score: number }[] }>(words)).results.map(({ score }) => score)
  }
  assert.equal(await listScores(), await listScores('--rerank'))
  assert.not.equal(await listScores(), await listScores('--no-rerank'))
})

test.run()
