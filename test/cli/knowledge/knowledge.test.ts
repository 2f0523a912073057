/** Tests of the `knowledge`, `rag` and `retrieval` commands against a real daemon and the real embedding model. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const RUN = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))
const LEAVE = '# Leave\n\n## Annual\n\nEvery employee gets twenty-five days of paid annual leave.\n'
const TRAVEL = '# Travel\n\n## Hotels\n\nA hotel in Lisbon may cost up to 140 euros a night.\n'

const test = suite('knowledge at the terminal')
let terminal: Terminal
let place: string
let handbook: string

const write = (file: string, text: string) => {
  mkdirSync(join(place, file, '..'), { recursive: true })
  writeFileSync(join(place, file), text)
}
const ok = async (words: string[], options?: Parameters<Terminal['run']>[1]) => {
  const ran = await terminal.run(words, options)
  assert.is(ran.code, 0, `${words.join(' ')}: ${ran.stderr}`)
  return ran
}
const listNames = async (path: string): Promise<string[]> =>
  (await terminal.request('GET', path)).data.map(({ name }: { name: string }) => name).sort()

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    place = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-knowledge-')))
    handbook = join(place, 'handbook')
    write('handbook/leave.md', LEAVE)
    write('handbook/policies/travel.md', TRAVEL)
    write('handbook/broken.pdf', '%PDF-1.7\nnothing that a reader could use')
    write('other/handbook/x.md', '# X\n\nAnother one.\n')
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    rmSync(place, { recursive: true, force: true })
  }),
)

test('knowledge add rejects invalid targets and flags before starting a daemon', async () => {
  const missing = await terminal.run(['knowledge', 'add', './nothing-here'])
  assert.is(missing.code, 2)
  assert.match(missing.stderr, 'There is no file or folder ./nothing-here')
  assert.is((await terminal.run(['knowledge', 'add', 'handbook', 'other', '--name', 'Two'], { cwd: place })).code, 2)
  assert.not.match((await terminal.run(['daemon', 'status'])).stdout, 'http://')
})

test('list and sync without any source explain how to add one', async () => {
  for (const verb of ['list', 'sync']) {
    const { stderr } = await terminal.run(['knowledge', verb, '--all'])
    assert.match(stderr, 'cadre knowledge add ./docs')
  }
})

test('knowledge add indexes a folder and creates its RAG tool', async () => {
  const { stderr, stdout } = await ok(['knowledge', 'add', './handbook'], { cwd: place })
  assert.is(stdout, '')
  assert.match(stderr, /handbook: 3 documents, \d+ passages indexed in \d/)
  assert.match(stderr, /1 document could not be read:\n {2}broken\.pdf: \S/)
  assert.match(stderr, 'cadre rag query handbook "…"')
  const source = await terminal.json(['knowledge', 'show', 'handbook'])
  assert.equal([source.type, source.status, source.configuration], ['folder', 'active', { path: handbook }])
  assert.equal(await listNames('/rag-tools'), ['handbook'])
})

test('rag query prints the answer and then its passages with their headings', async () => {
  const { stdout } = await ok(['rag', 'query', 'handbook', 'How many days of leave do I have?'])
  const [answer = ''] = stdout.split('\n')
  assert.match(answer, /twenty-five days.*\[1\]/)
  assert.match(stdout, /^\[1\] leave\.md · Leave\b/m)
  assert.not.match(stdout, '\u001b')
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

test('adding the same folder again syncs its source and creates nothing', async () => {
  const { stderr } = await ok(['knowledge', 'add', './handbook'], { cwd: place })
  assert.match(stderr, /handbook: no changes in .*; total 3 documents/)
  assert.equal(await listNames('/knowledge-sources'), ['handbook'])
  assert.equal(await listNames('/rag-tools'), ['handbook'])
})

test('a name that is used by a source with another location is rejected', async () => {
  const { code, stderr } = await terminal.run(['knowledge', 'add', './other/handbook'], { cwd: place })
  assert.is(code, 2)
  assert.match(stderr, `"handbook" for ${handbook} already exists`)
  assert.match(stderr, '--name')
})

test('knowledge add uploads files, and skips unchanged ones', async () => {
  const words = ['knowledge', 'add', 'handbook/leave.md', 'handbook/policies/travel.md', '--name', 'Policies', '--no-tool']
  const first = await ok(words, { cwd: place })
  assert.match(first.stderr, 'cadre rag create --name Policies --knowledge-source Policies')
  const sent = await terminal.json<{ name: string; updated_at: string; status: string }[]>([
    'knowledge',
    'documents',
    'list',
    'Policies',
    '--sort',
    'name',
  ])
  assert.equal(
    sent.map(({ name, status }) => `${name} ${status}`),
    ['travel.md indexed', 'leave.md indexed'],
  )
  assert.equal(await listNames('/rag-tools?name=Policies'), [])
  await ok(words, { cwd: place })
  const again = await terminal.json<{ updated_at: string }[]>(['knowledge', 'documents', 'list', 'Policies', '--sort', 'name'])
  assert.equal(
    again.map(({ updated_at }) => updated_at),
    sent.map(({ updated_at }) => updated_at),
  )
})

test('--send uploads the files of a folder', async () => {
  write('sent/.gitignore', 'secret.md\n')
  write('sent/secret.md', 'x')
  write('sent/deep/notes.md', '# Notes\n\nThe stapler is in the second drawer.\n')
  const source = await terminal.json(['knowledge', 'add', 'sent', '--send', '--quiet'], { cwd: place })
  assert.equal([source.type, source.name], ['file', 'sent'])
  assert.equal(await listNames(`/knowledge-sources/${source.id}/documents`), ['deep/notes.md'])
  assert.match((await ok(['rag', 'query', 'sent', 'Where is the stapler?'])).stdout, 'second drawer')
})

test('knowledge add fails if no document can be read, and explains an empty folder', async () => {
  write('bad/broken.pdf', '%PDF-1.7\nnothing')
  const { code, stderr } = await terminal.run(['knowledge', 'add', 'bad'], { cwd: place })
  assert.is(code, 1)
  assert.match(stderr, 'broken.pdf: ')
  assert.not.match(stderr, 'cadre rag query')
  write('empty/.keep', '')
  const empty = (await ok(['knowledge', 'add', 'empty'], { cwd: place })).stderr
  for (const text of ['no documents found', 'Supported file types: pdf', 'cadre knowledge sync empty', 'cadre knowledge delete empty'])
    assert.match(empty, text)
})

test('sync reports the documents that were read and deleted', async () => {
  write('handbook/new.md', '# New\n\nThe canteen opens at eleven.\n')
  rmSync(join(handbook, 'broken.pdf'))
  rmSync(join(handbook, 'policies'), { recursive: true })
  const { stderr } = await ok(['knowledge', 'sync', 'handbook'])
  assert.match(stderr, /handbook: 1 document read, \d+ passages? indexed, 2 documents deleted in .*; total 2 documents/)
  assert.match((await ok(['rag', 'query', 'handbook', 'When does the canteen open?'])).stdout, 'eleven')
})

test('sync --all continues after a source that fails', async () => {
  renameSync(join(place, 'empty'), join(place, 'gone'))
  const { code, stdout, stderr } = await terminal.run(['knowledge', 'sync', '--all', '--json'])
  assert.is(code, 1)
  assert.match(stderr, `empty: Error: ${join(place, 'empty')} does not exist`)
  assert.ok((JSON.parse(stdout) as unknown[]).length >= 4)
  const alone = await terminal.run(['knowledge', 'sync', 'empty'])
  assert.is(alone.code, 1)
  assert.match(alone.stderr, 'cadre knowledge sync empty')
  const started = await ok(['knowledge', 'sync', 'handbook', '--no-wait'])
  assert.match(started.stderr, 'The daemon is syncing handbook')
  assert.is((await terminal.run(['knowledge', 'sync'])).code, 2)
})

/** Starts a command that runs until it is stopped, and collects its stderr. */
function launch(words: string[]): {
  child: ChildProcess
  said: () => string
  until: (text: string | RegExp) => Promise<void>
  ended: Promise<number | null>
} {
  const environment = { PATH: process.env.PATH, HOME: place, CADRE_HOME: terminal.home, CADRE_KEYCHAIN: 'off' }
  const child = spawn(process.execPath, [RUN, ...words], { cwd: place, env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    said += part
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const until = async (text: string | RegExp) => {
    const deadline = Date.now() + 60_000
    while (!(typeof text === 'string' ? said.includes(text) : text.test(said))) {
      if (Date.now() > deadline || child.exitCode !== null) throw new Error(`stderr never contained ${text}: ${said}`)
      await wait(50)
    }
  }
  return { child, said: () => said, until, ended }
}

test('watch reports changes until Ctrl+C, and --off stops watching', async () => {
  const watching = launch(['knowledge', 'watch', 'handbook'])
  await watching.until('no changes')
  write('handbook/parking.md', '# Parking\n\nVisitors park behind the mill.\n')
  await watching.until('read parking.md; total 3 documents')
  rmSync(join(handbook, 'parking.md'))
  await watching.until('1 document deleted; total 2 documents')
  watching.child.kill('SIGINT')
  assert.is(await watching.ended, 130)
  const { id } = (await terminal.request('GET', '/knowledge-sources?name=handbook')).data[0]
  const isWatched = async () => (await terminal.request('GET', `/knowledge-sources/${id}`)).data.configuration.watch
  assert.is(await isWatched(), true)
  await ok(['knowledge', 'watch', 'handbook', '--off'])
  assert.is(await isWatched(), false)
  const refused = await terminal.run(['knowledge', 'watch', 'Policies'])
  assert.is(refused.code, 2)
  assert.match(refused.stderr, '--schedule')
})

test('a sync continues in the background after Ctrl+C, and --cancel stops it', async () => {
  const paragraph = (at: number) => `## Part ${at}\n\n${`Sentence number ${at} says something about drawer ${at * 7}. `.repeat(14)}\n\n`
  for (let file = 0; file < 40; file++)
    write(`large/${file}.md`, `# File ${file}\n\n${Array.from({ length: 15 }, (_, at) => paragraph(file * 15 + at)).join('')}`)
  const adding = launch(['knowledge', 'add', 'large'])
  await adding.until(/^(Reading|Indexing): \d+ of \d+/m)
  adding.child.kill('SIGINT')
  assert.is(await adding.ended, 130)
  assert.match(adding.said(), 'The sync of large continues in the background.')
  assert.is((await terminal.json(['knowledge', 'show', 'large'])).status, 'syncing')
  const following = launch(['knowledge', 'sync', 'large', '--quiet'])
  await wait(1_500)
  await ok(['knowledge', 'sync', 'large', '--cancel'])
  assert.is(await following.ended, 0)
  assert.is(following.said().trim(), 'large: the sync was cancelled; indexed documents are kept.')
  assert.is((await terminal.run(['knowledge', 'sync', 'large', '--cancel'])).code, 1)
})

test('delete reports what it deletes, needs --yes, and rejects a source that is in use without --force', async () => {
  const account = await terminal.run(['knowledge', 'remove', 'sent'])
  assert.is(account.code, 2)
  assert.match(account.stderr, /sent holds 1 document and 1 passage, which will be deleted with the RAG tool sent\./)
  await ok(['knowledge', 'remove', 'sent', '--yes'])
  assert.not.match((await listNames('/knowledge-sources?limit=100')).join(), 'sent')
  assert.equal(await listNames('/rag-tools?name=sent'), [])
  const used = await terminal.run(['knowledge', 'remove', 'handbook', '--yes'])
  assert.is(used.code, 1)
  assert.match(used.stderr, `${handbook} is not changed.`)
  assert.match(used.stderr, 'retrieval tool find')
  assert.equal(await listNames('/rag-tools?name=handbook'), ['handbook'])
  await ok(['knowledge', 'remove', 'handbook', '--yes', '--force'])
  assert.is((await terminal.run(['knowledge', 'show', 'handbook'])).code, 3)
})

test.run()
