/** Tests of the `knowledge` commands against a real daemon and the real embedding model. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { homePaths } from '../../../src/config.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'

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
  assert.match(stderr, /handbook: 2 documents, \d+ passages indexed in \d.*; 1 document unreadable\./)
  assert.match(stderr, /1 document could not be read:\n {2}broken\.pdf: \S/)
  assert.match(stderr, 'cadre rag query handbook "…"')
  const source = await terminal.json(['knowledge', 'show', 'handbook'])
  assert.equal([source.type, source.status, source.configuration], ['folder', 'active', { path: handbook, watch: true }])
  assert.match(stderr, 'Changes are indexed as they happen. To turn this off: cadre knowledge update handbook --no-watch')
  assert.match((await ok(['status'])).stdout, /watching +1 folder/)
  assert.equal(await listNames('/rag-tools'), ['handbook'])
})

test('update --no-watch changes only this setting, and adding the folder again keeps it', async () => {
  const { stderr } = await ok(['knowledge', 'update', 'handbook', '--no-watch'])
  assert.match(stderr, 'watching: on → off')
  await ok(['knowledge', 'add', './handbook', '--quiet'], { cwd: place })
  const { configuration, watching } = await terminal.json(['knowledge', 'show', 'handbook'])
  assert.equal([configuration, watching], [{ path: handbook, watch: false }, null])
})

test('describe sets, lists and removes the descriptions of a source and its folders', async () => {
  await ok(['knowledge', 'describe', 'handbook', 'Rules for all staff'])
  const { stderr } = await ok(['knowledge', 'describe', 'handbook/policies/', 'Travel and expenses'])
  assert.is(stderr, 'Described handbook/policies.\n')
  const misspelt = await ok(['knowledge', 'describe', 'handbook/policy', 'x'])
  assert.match(misspelt.stderr, 'handbook has no documents in policy yet.')
  await ok(['knowledge', 'describe', 'handbook/policy', ''])
  assert.equal(await terminal.json(['knowledge', 'describe', 'handbook', '--json']), [
    { path: 'handbook', description: 'Rules for all staff' },
    { path: 'handbook/policies', description: 'Travel and expenses' },
  ])
  assert.is((await terminal.run(['knowledge', 'describe', 'nothing/policies', 'x'])).code, 3)
})

test('show counts indexed documents apart from unreadable ones', async () => {
  assert.match((await ok(['knowledge', 'show', 'handbook'])).stdout, /indexed: 2\n +unreadable: 1\n/)
  const { statistics } = await terminal.json(['knowledge', 'show', 'handbook'])
  assert.equal([(statistics as Json).documents, (statistics as Json).failed], [3, 1])
})

test('knowledge add --quiet prints nothing, unless no document can be read', async () => {
  write('silent/a.md', '# A\n\nThe printer is on the third floor.\n')
  write('silent/broken.pdf', '%PDF-1.7\nnothing')
  assert.equal(await ok(['knowledge', 'add', 'silent', '--quiet'], { cwd: place }), { code: 0, stdout: '', stderr: '' })
  rmSync(join(place, 'silent/a.md'))
  const unreadable = await terminal.run(['knowledge', 'add', 'silent', '-q'], { cwd: place })
  assert.is(unreadable.code, 1)
  assert.match(unreadable.stderr, 'broken.pdf: ')
  await ok(['knowledge', 'delete', 'silent', '--yes'])
})

test('adding the same folder again syncs its source and creates nothing', async () => {
  const { stderr } = await ok(['knowledge', 'add', './handbook'], { cwd: place })
  assert.match(stderr, /handbook: no changes in .*; total 2 documents, .*; 1 document unreadable/)
  assert.equal(await listNames('/knowledge-sources'), ['handbook'])
  assert.equal(await listNames('/rag-tools'), ['handbook'])
})

test('a name that is used by a source with another location is rejected', async () => {
  const { code, stderr } = await terminal.run(['knowledge', 'add', './other/handbook'], { cwd: place })
  assert.is(code, 2)
  assert.match(stderr, `"handbook" for ${handbook} already exists`)
  assert.match(stderr, `To add this one under another name: cadre knowledge add ${join(place, 'other', 'handbook')} --name handbook-2`)
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
  for (const text of ['empty was created and is empty', 'file types: pdf', 'cadre knowledge sync empty', 'knowledge delete empty'])
    assert.match(empty, text)
})

test('a file of an unsupported type is refused by its name, and leaves no empty source', async () => {
  write('song.mp3', 'sound')
  const { code, stderr } = await terminal.run(['knowledge', 'add', join(place, 'song.mp3')])
  assert.not.equal(code, 0)
  assert.match(stderr, /song\.mp3 is a \.mp3 file/)
  assert.not.ok((await listNames('/knowledge-sources')).some((name) => name.includes('song')))
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
  const environment = {
    PATH: process.env.PATH,
    HOME: place,
    CADRE_HOME: terminal.home,
    CADRE_KEYCHAIN: 'off',
    CADRE_TIMEOUT_FACTOR: process.env.CADRE_TIMEOUT_FACTOR,
  }
  const child = spawn(process.execPath, [RUN, ...words], { cwd: place, env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    said += part
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const until = async (text: string | RegExp) => {
    const hasSaid = () => (typeof text === 'string' ? said.includes(text) : text.test(said))
    await waitFor(() => hasSaid() || child.exitCode !== null, { description: `${text} on stderr` })
    if (!hasSaid()) throw new Error(`stderr never contained ${text}: ${said}`)
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
  assert.match(adding.said(), 'The daemon continues to index large in the background.')
  assert.match((await ok(['status'])).stdout, /indexing +large: (reading|indexing), [\d,]+ of [\d,]+ (files|passages)/)
  assert.is((await terminal.json(['knowledge', 'show', 'large'])).status, 'syncing')
  const { log } = homePaths(terminal.environment)
  const countSyncRequests = () => readFileSync(log, 'utf8').split('/knowledge-sources/:id/sync"').length
  const before = countSyncRequests()
  const following = launch(['knowledge', 'sync', 'large', '--quiet'])
  await waitFor(() => countSyncRequests() > before)
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
  await terminal.json(['retrieval', 'create', '--name', 'find', '--knowledge-source', 'handbook'])
  const used = await terminal.run(['knowledge', 'remove', 'handbook', '--yes'])
  assert.is(used.code, 1)
  assert.match(used.stderr, `${handbook} is not changed.`)
  assert.match(used.stderr, 'retrieval tool find')
  assert.equal(await listNames('/rag-tools?name=handbook'), ['handbook'])
  await ok(['knowledge', 'remove', 'handbook', '--yes', '--force'])
  assert.is((await terminal.run(['knowledge', 'show', 'handbook'])).code, 3)
})

test.run()
