import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findDocuments, type SourceDocument } from '../../../daemon/knowledge/sources/find-documents.ts'
import { CadreError } from '../../../src/contract/errors.ts'

const test = suite<{ root: string }>('folder sources')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-folder-'))
})
test.after.each(({ root }) => rmSync(root, { recursive: true, force: true }))

const signal = new AbortController().signal

function put(root: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
}

async function listed(root: string, configuration: Record<string, unknown> = {}): Promise<SourceDocument[]> {
  const found: SourceDocument[] = []
  const options = {
    configuration: { path: root, ...configuration },
    signal,
    workDirectory: join(root, '.home', 'work', 'ks_1'),
    outbound: undefined as never,
  }
  for await (const document of findDocuments('folder', options)) found.push(document)
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}
const names = async (root: string, configuration?: Record<string, unknown>) => (await listed(root, configuration)).map(({ name }) => name)
const text = async (found: SourceDocument | undefined) => Buffer.from((await found?.read(signal)) ?? []).toString('utf8')

async function failure(work: Promise<unknown>): Promise<CadreError> {
  try {
    await work
  } catch (error) {
    assert.instance(error, CadreError)
    return error as CadreError
  }
  throw new Error('nothing failed')
}

test('files at every depth are found, with spaces and any script in their names, and read', async ({ root }) => {
  put(root, { 'a.md': 'one', 'deep/er/b c.txt': 'two', '文書/説明.md': '三', 'ümläut.MD': 'four' })
  const found = await listed(root)
  assert.equal(
    found.map(({ name }) => name),
    ['a.md', 'deep/er/b c.txt', 'ümläut.MD', '文書/説明.md'].sort(),
  )
  assert.is(await text(found.find(({ name }) => name === 'deep/er/b c.txt')), 'two')
  assert.is(await text(found.find(({ name }) => name === '文書/説明.md')), '三')
  assert.is(found[0]?.metadata?.path, join(root, 'a.md'))
})

test('names are composed, unless both spellings exist side by side', async ({ root }) => {
  put(root, { 'cafe\u0301.md': 'decomposed' })
  assert.equal(await names(root), ['caf\u00e9.md'])
  assert.is(await text((await listed(root))[0]), 'decomposed')
  if (process.platform !== 'linux') return
  put(root, { 'caf\u00e9.md': 'composed' })
  assert.is(new Set(await names(root)).size, 2)
})

test('only known file types are taken, or those asked for, in any case', async ({ root }) => {
  put(root, { 'a.md': '', 'b.PDF': '', 'c.png': '', 'd.zip': '', Makefile: '', 'e.log': '' })
  assert.equal(await names(root), ['a.md', 'b.PDF'])
  assert.equal(await names(root, { file_types: ['LOG', 'pdf'] }), ['b.PDF', 'e.log'])
})

test('include and exclude are globs; without a slash they hold at every level; a folder stands for what is in it', async ({ root }) => {
  put(root, { 'a.md': '', 'docs/b.md': '', 'docs/c.txt': '', 'docs/old/d.md': '', 'src/e.ts': '', 'src/docs/f.md': '' })
  assert.equal(await names(root, { include: ['*.md'] }), ['a.md', 'docs/b.md', 'docs/old/d.md', 'src/docs/f.md'])
  assert.equal(await names(root, { include: ['docs/*.md'] }), ['docs/b.md'])
  assert.equal(await names(root, { include: ['./docs/**'] }), ['docs/b.md', 'docs/c.txt', 'docs/old/d.md'])
  assert.equal(await names(root, { include: ['docs/old'] }), ['docs/old/d.md'])
  assert.equal(await names(root, { include: ['docs'] }), ['docs/b.md', 'docs/c.txt', 'docs/old/d.md', 'src/docs/f.md'])
  assert.equal(await names(root, { include: ['**/*.{md,ts}'], exclude: ['docs/'] }), ['a.md', 'src/docs/f.md', 'src/e.ts'])
  assert.equal(await names(root, { exclude: ['docs'] }), ['a.md', 'src/e.ts'])
  assert.equal(await names(root, { exclude: ['**/old/**', '*.txt'] }), ['a.md', 'docs/b.md', 'src/docs/f.md', 'src/e.ts'])
})

test('a glob that could take minutes is refused', async ({ root }) => {
  const error = await failure(names(root, { include: ['*a*a*a*a*a*a*b'] }))
  assert.is(error.code, 'VALIDATION_ERROR')
})

test('hidden files, .git and node_modules stay out; hidden ones come in when a glob names them', async ({ root }) => {
  put(root, {
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

test('.gitignore of every level holds, exactly as git understands it', async ({ root }) => {
  put(root, {
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

test('links do not lead out of the folder, into circles, or to a document twice', async ({ root }) => {
  const outside = mkdtempSync(join(tmpdir(), 'cadre-outside-'))
  try {
    put(outside, { 'secret.md': 'secret' })
    put(root, { 'in/a.md': 'a', '..data/config.md': 'mounted', '..data/more/b.md': 'b' })
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
    const found = await listed(root)
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

test('a file that becomes a link to the outside before it is read is not read', async ({ root }) => {
  const outside = mkdtempSync(join(tmpdir(), 'cadre-outside-'))
  try {
    put(outside, { 'secret.md': 'secret' })
    put(root, { 'a.md': 'a' })
    const [found] = await listed(root)
    unlinkSync(join(root, 'a.md'))
    symlinkSync(join(outside, 'secret.md'), join(root, 'a.md'))
    assert.is((await failure(text(found))).code, 'FORBIDDEN')
  } finally {
    rmSync(outside, { recursive: true })
  }
})

test('special files are skipped, and one that takes the place of a file does not hang', async ({ root }) => {
  if (process.platform === 'win32') return
  put(root, { 'a.md': 'a' })
  execFileSync('mkfifo', [join(root, 'pipe.md')])
  const found = await listed(root)
  assert.equal(
    found.map(({ name }) => name),
    ['a.md'],
  )
  unlinkSync(join(root, 'a.md'))
  execFileSync('mkfifo', [join(root, 'a.md')])
  assert.match((await failure(text(found[0]))).message, 'not a regular file')
})

test('a file that is gone, or has grown, when it is read says so', async ({ root }) => {
  put(root, { 'a.md': 'a', 'b.md': 'b' })
  const [a, b] = await listed(root, { max_file_size: 10 })
  unlinkSync(join(root, 'a.md'))
  writeFileSync(join(root, 'b.md'), 'b'.repeat(11))
  assert.match((await failure(text(a))).message, 'removed before it could be read')
  assert.match((await failure(text(b))).message, '11 bytes')
})

test('what is too large is a problem with both sizes in it', async ({ root }) => {
  put(root, { 'a.md': 'x'.repeat(11), 'b.md': 'x'.repeat(10) })
  const [a, b] = await listed(root, { max_file_size: 10 })
  assert.match(a?.problem ?? '', /11 bytes.*at most 10/)
  assert.is(b?.problem, undefined)
})

test('what may not be read is a problem, and the rest is found', async ({ root }) => {
  // Root may read everything.
  if (process.platform === 'win32' || process.getuid?.() === 0) return
  put(root, { 'a.md': 'a', 'closed/b.md': 'b', 'c.md': 'c' })
  chmodSync(join(root, 'closed'), 0)
  chmodSync(join(root, 'c.md'), 0)
  try {
    const found = await listed(root)
    assert.equal(
      found.map(({ name, problem }) => [name, problem !== undefined]),
      [
        ['a.md', false],
        ['c.md', false],
        ['closed', true],
      ],
    )
    assert.match((await failure(text(found[1]))).message, 'permission denied')
  } finally {
    chmodSync(join(root, 'closed'), 0o700)
  }
})

test('the fingerprint stays while a file does, and changes with it', async ({ root }) => {
  put(root, { 'a.md': 'one' })
  const of = async () => (await listed(root))[0]?.fingerprint
  const first = await of()
  assert.is(await of(), first)
  utimesSync(join(root, 'a.md'), 1, 1)
  const second = await of()
  assert.is.not(second, first)
  put(root, { 'b.tmp': 'two' })
  utimesSync(join(root, 'b.tmp'), 1, 1)
  renameSync(join(root, 'b.tmp'), join(root, 'a.md'))
  assert.is.not(await of(), second)
})

test('a folder that is gone is an error with a way out, not an empty folder', async ({ root }) => {
  const error = await failure(names(join(root, 'missing')))
  assert.is(error.code, 'NOT_FOUND')
  assert.ok(error.hint)
  put(root, { 'a.md': '' })
  assert.is((await failure(names(join(root, 'a.md')))).code, 'VALIDATION_ERROR')
  assert.is((await failure(names('docs'))).code, 'VALIDATION_ERROR')
})

test('a folder that goes away while it is read is an error', async ({ root }) => {
  const folder = join(root, 'disk')
  put(folder, { 'a.md': '', 'b/c.md': '' })
  const options = { configuration: { path: folder }, signal, workDirectory: root, outbound: undefined as never }
  const error = await failure(
    (async () => {
      for await (const { name } of findDocuments('folder', options)) if (name) rmSync(folder, { recursive: true, force: true })
    })(),
  )
  assert.is(error.code, 'UNAVAILABLE')
})

test("Cadre's own home inside the folder is left out", async ({ root }) => {
  put(root, { 'a.md': '', 'cadre/settings.json': '', [join('cadre', 'work', 'ks_1', 'x.md')]: '' })
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
  assert.match((await failure(findDocuments('folder', own).next())).message, /where Cadre keeps its own files/)
})

test('the walk ends when it is told to', async ({ root }) => {
  put(root, Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${at}/f.md`, ''])))
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
