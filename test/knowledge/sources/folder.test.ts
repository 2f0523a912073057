import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findDocuments } from '../../../daemon/knowledge/sources/find-documents.ts'
import type { SourceDocument } from '../../../daemon/knowledge/sources/source-document.ts'
import { expectFailure, listFolderDocuments as listDocuments, listFolderNames as names, writeFiles } from './source-fixtures.ts'

const test = suite<{ root: string }>('folder sources')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-folder-'))
})
test.after.each(({ root }) => rmSync(root, { recursive: true, force: true }))

const signal = new AbortController().signal

const text = async (found: SourceDocument | undefined) => Buffer.from((await found?.read(signal)) ?? []).toString('utf8')

test('a folder source finds and reads files at every depth, with any characters in their names', async ({ root }) => {
  writeFiles(root, { 'a.md': 'one', 'deep/er/b c.txt': 'two', '文書/説明.md': '三', 'ümläut.MD': 'four' })
  const found = await listDocuments(root)
  assert.equal(
    found.map(({ name }) => name),
    ['a.md', 'deep/er/b c.txt', 'ümläut.MD', '文書/説明.md'].sort(),
  )
  assert.is(await text(found.find(({ name }) => name === 'deep/er/b c.txt')), 'two')
  assert.is(await text(found.find(({ name }) => name === '文書/説明.md')), '三')
  assert.is(found[0]?.metadata?.path, join(root, 'a.md'))
})

test('file names are normalized to NFC', async ({ root }) => {
  writeFiles(root, { 'cafe\u0301.md': 'decomposed' })
  assert.equal(await names(root), ['caf\u00e9.md'])
  assert.is(await text((await listDocuments(root))[0]), 'decomposed')
})

const onLinux = process.platform === 'linux' ? test : test.skip
onLinux('file names that are equal after normalization stay distinct', async ({ root }) => {
  writeFiles(root, { 'cafe\u0301.md': 'decomposed', 'caf\u00e9.md': 'composed' })
  assert.is(new Set(await names(root)).size, 2)
})

test('a folder source includes known file types, or the configured ones, in any case', async ({ root }) => {
  writeFiles(root, { 'a.md': '', 'b.PDF': '', 'c.png': '', 'd.7z': '', Makefile: '', 'e.log': '' })
  assert.equal(await names(root), ['a.md', 'b.PDF', 'c.png'])
  assert.equal(await names(root, { ocr: false }), ['a.md', 'b.PDF'])
  assert.equal(await names(root, { file_types: ['LOG', 'pdf'] }), ['b.PDF', 'e.log'])
})

test('include and exclude are globs: without a slash at every level, and a folder includes its contents', async ({ root }) => {
  writeFiles(root, { 'a.md': '', 'docs/b.md': '', 'docs/c.txt': '', 'docs/old/d.md': '', 'src/e.ts': '', 'src/docs/f.md': '' })
  assert.equal(await names(root, { include: ['*.md'] }), ['a.md', 'docs/b.md', 'docs/old/d.md', 'src/docs/f.md'])
  assert.equal(await names(root, { include: ['docs/*.md'] }), ['docs/b.md'])
  assert.equal(await names(root, { include: ['./docs/**'] }), ['docs/b.md', 'docs/c.txt', 'docs/old/d.md'])
  assert.equal(await names(root, { include: ['docs/old'] }), ['docs/old/d.md'])
  assert.equal(await names(root, { include: ['docs'] }), ['docs/b.md', 'docs/c.txt', 'docs/old/d.md', 'src/docs/f.md'])
  assert.equal(await names(root, { include: ['**/*.{md,ts}'], exclude: ['docs/'] }), ['a.md', 'src/docs/f.md', 'src/e.ts'])
  assert.equal(await names(root, { exclude: ['docs'] }), ['a.md', 'src/e.ts'])
  assert.equal(await names(root, { exclude: ['**/old/**', '*.txt'] }), ['a.md', 'docs/b.md', 'src/docs/f.md', 'src/e.ts'])
})

test('hidden files, .git and node_modules are excluded, unless a glob names hidden files or node_modules', async ({ root }) => {
  writeFiles(root, {
    'a.md': '',
    '.hidden.md': '',
    '.github/w.yml': '',
    '.git/x.md': '',
    'node_modules/p/README.md': '',
    'sub/node_modules/q.md': '',
  })
  assert.equal(await names(root), ['a.md'])
  assert.equal(await names(root, { include: ['**/*.md'] }), ['a.md'])
  assert.equal(await names(root, { include: ['.github/**', '*.md', '.*.md', '.git/**'] }), ['.github/w.yml', '.hidden.md', 'a.md'])
  assert.equal(await names(root, { include: ['node_modules/**'] }), ['node_modules/p/README.md'])
})

test('.gitignore files of every level apply exactly as in git', async ({ root }) => {
  writeFiles(root, {
    '.gitignore': '# comment\n*.log.md\n/only-here.md\nbuild/\n!keep.log.md\n\\#odd.md\ntrail.md   \n',
    'a.md': '',
    'x.log.md': '',
    'keep.log.md': '',
    'only-here.md': '',
    '#odd.md': '',
    'trail.md': '',
    'sub/only-here.md': '',
    'build/out.md': '',
    'sub/build/out.md': '',
    'sub/.gitignore': '!build/\nsecret/*\n!secret/open.md\n/top.md\ndeep/**/z.md\nany.md\n',
    'any.md': '',
    'sub/any.md': '',
    'sub/in/any.md': '',
    'sub/top.md': '',
    'sub/in/top.md': '',
    'sub/secret/closed.md': '',
    'sub/secret/open.md': '',
    'sub/deep/q/z.md': '',
    'sub/deep/q/y.md': '',
    'we[i]rd !/.gitignore': 'n.md\n',
    'we[i]rd !/n.md': '',
    'we[i]rd !/m.md': '',
  })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  git('init', '-q')
  const expected = git('ls-files', '-z', '--others', '--exclude-standard')
    .split('\0')
    .filter((name) => name.endsWith('.md'))
    .sort()
  assert.ok(expected.includes('sub/build/out.md') && !expected.includes('build/out.md'), 'the example is worth comparing')
  assert.equal(await names(root), expected)
  assert.ok((await names(root, { gitignore: false })).includes('build/out.md'))
})

test('symbolic links do not lead out of the folder, into cycles or to a document twice', async ({ root }) => {
  const outside = mkdtempSync(join(tmpdir(), 'cadre-outside-'))
  try {
    writeFiles(outside, { 'secret.md': 'secret' })
    writeFiles(root, { 'in/a.md': 'a', '..data/config.md': 'mounted', '..data/more/b.md': 'b' })
    symlinkSync(join(outside, 'secret.md'), join(root, 'escape.md'))
    symlinkSync(outside, join(root, 'escape'))
    symlinkSync('in/a.md', join(root, 'again.md'))
    symlinkSync('..', join(root, 'in/up'))
    symlinkSync('.', join(root, 'self'))
    symlinkSync('nowhere', join(root, 'dangling.md'))
    symlinkSync('loop.md', join(root, 'loop.md'))
    // As Kubernetes mounts files: every visible one is a link to hidden data.
    symlinkSync('..data/config.md', join(root, 'config.md'))
    symlinkSync('..data/more', join(root, 'more'))
    const found = await listDocuments(root)
    assert.equal(
      found.map(({ name }) => name),
      ['config.md', 'in/a.md', 'more/b.md'],
    )
    assert.is(await text(found[0]), 'mounted')
    assert.is(await text(found[2]), 'b')
  } finally {
    rmSync(outside, { recursive: true })
  }
})

test('a file that is replaced by a link to the outside before it is read is rejected', async ({ root }) => {
  const outside = mkdtempSync(join(tmpdir(), 'cadre-outside-'))
  try {
    writeFiles(outside, { 'secret.md': 'secret' })
    writeFiles(root, { 'a.md': 'a' })
    const [found] = await listDocuments(root)
    unlinkSync(join(root, 'a.md'))
    symlinkSync(join(outside, 'secret.md'), join(root, 'a.md'))
    assert.is((await expectFailure(text(found))).code, 'FORBIDDEN')
  } finally {
    rmSync(outside, { recursive: true })
  }
})

const onUnix = process.platform === 'win32' ? test.skip : test
onUnix('named pipes are skipped, and one that replaces a file does not block', async ({ root }) => {
  writeFiles(root, { 'a.md': 'a' })
  execFileSync('mkfifo', [join(root, 'pipe.md')])
  const found = await listDocuments(root)
  assert.equal(
    found.map(({ name }) => name),
    ['a.md'],
  )
  unlinkSync(join(root, 'a.md'))
  execFileSync('mkfifo', [join(root, 'a.md')])
  assert.match((await expectFailure(text(found[0]))).message, 'not a regular file')
})

test('a file that was removed or has grown before it is read reports it', async ({ root }) => {
  writeFiles(root, { 'a.md': 'a', 'b.md': 'b' })
  const [a, b] = await listDocuments(root, { max_file_size: 10 })
  unlinkSync(join(root, 'a.md'))
  writeFileSync(join(root, 'b.md'), 'b'.repeat(11))
  assert.match((await expectFailure(text(a))).message, 'removed before it could be read')
  assert.match((await expectFailure(text(b))).message, '11 bytes')
})

test('a file over the size limit has a problem with both sizes', async ({ root }) => {
  writeFiles(root, { 'a.md': 'x'.repeat(11), 'b.md': 'x'.repeat(10) })
  const [a, b] = await listDocuments(root, { max_file_size: 10 })
  assert.match(a?.problem ?? '', /11 bytes.*at most 10/)
  assert.is(b?.problem, undefined)
})

// Root may read everything.
const unprivileged = process.platform === 'win32' || process.getuid?.() === 0 ? test.skip : test
unprivileged('an unreadable folder has a problem, and the rest is found', async ({ root }) => {
  writeFiles(root, { 'a.md': 'a', 'closed/b.md': 'b', 'c.md': 'c' })
  chmodSync(join(root, 'closed'), 0)
  chmodSync(join(root, 'c.md'), 0)
  try {
    const found = await listDocuments(root)
    assert.equal(
      found.map(({ name, problem }) => [name, problem !== undefined]),
      [
        ['a.md', false],
        ['c.md', false],
        ['closed', true],
      ],
    )
    assert.match((await expectFailure(text(found[1]))).message, 'permission denied')
  } finally {
    chmodSync(join(root, 'closed'), 0o700)
  }
})

test('the fingerprint of a file changes only with the file', async ({ root }) => {
  writeFiles(root, { 'a.md': 'one' })
  const of = async () => (await listDocuments(root))[0]?.fingerprint
  const first = await of()
  assert.is(await of(), first)
  utimesSync(join(root, 'a.md'), 1, 1)
  const second = await of()
  assert.is.not(second, first)
  writeFiles(root, { 'b.tmp': 'two' })
  utimesSync(join(root, 'b.tmp'), 1, 1)
  renameSync(join(root, 'b.tmp'), join(root, 'a.md'))
  assert.is.not(await of(), second)
})

test('a missing folder is an error with a hint, not an empty folder', async ({ root }) => {
  const error = await expectFailure(names(join(root, 'missing')))
  assert.is(error.code, 'NOT_FOUND')
  assert.ok(error.hint)
  writeFiles(root, { 'a.md': '' })
  assert.is((await expectFailure(names(join(root, 'a.md')))).code, 'VALIDATION_ERROR')
  assert.is((await expectFailure(names('docs'))).code, 'VALIDATION_ERROR')
})

test('a folder that is removed while it is read is an error', async ({ root }) => {
  const folder = join(root, 'disk')
  writeFiles(folder, { 'a.md': '', 'b/c.md': '' })
  const options = { configuration: { path: folder }, signal, workDirectory: root, outbound: undefined as never }
  const error = await expectFailure(
    (async () => {
      for await (const { name } of findDocuments('folder', options)) if (name) rmSync(folder, { recursive: true, force: true })
    })(),
  )
  assert.is(error.code, 'UNAVAILABLE')
})

test('the home of Cadre within the folder is skipped', async ({ root }) => {
  writeFiles(root, { 'a.md': '', 'cadre/settings.json': '', [join('cadre', 'work', 'ks_1', 'x.md')]: '' })
  const options = {
    configuration: { path: root },
    signal,
    workDirectory: join(root, 'cadre', 'work', 'ks_1'),
    outbound: undefined as never,
  }
  const found: string[] = []
  for await (const { name } of findDocuments('folder', options)) found.push(name)
  assert.equal(found, ['a.md'])
  const own = { ...options, configuration: { path: join(root, 'cadre') } }
  assert.match((await expectFailure(findDocuments('folder', own).next())).message, /is the home directory of Cadre/)
})

test('a folder walk stops on abort', async ({ root }) => {
  writeFiles(root, Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${at}/f.md`, ''])))
  const ending = new AbortController()
  let count = 0
  try {
    for await (const _ of findDocuments('folder', {
      configuration: { path: root },
      signal: ending.signal,
      workDirectory: root,
      outbound: undefined as never,
    })) {
      count++
      ending.abort(new Error('enough'))
    }
    assert.unreachable()
  } catch (error) {
    assert.is((error as Error).message, 'enough')
  }
  assert.ok(count < 200)
})

test.run()
