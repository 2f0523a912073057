/** Progress bars, rates, passages and planned sources, without a daemon. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatLocation } from '../../../src/cli/ask/format-location.ts'
import { createQueryPattern, extractExcerpt, formatPassage } from '../../../src/cli/ask/format-passages.ts'
import { parseFilters } from '../../../src/cli/ask/query-flags.ts'
import { listFiles } from '../../../src/cli/input/local-files.ts'
import { planSources } from '../../../src/cli/knowledge/plan-sources.ts'
import { formatBarLine, formatPlainLine, ProgressDisplay, RateEstimator } from '../../../src/cli/terminal/progress-bar.ts'
import { quoteShellWord } from '../../../src/cli/terminal/shell-quote.ts'
import { stringWidth } from '../../../src/cli/terminal/text.ts'
import { isLoopback } from '../../../src/client/address.ts'

const test = suite('progress and passages')
const step = { label: 'Indexing', done: 120, total: 480, unit: 'passages', note: '11 files' }
let folder: string
test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'cadre-files-'))
})
test.after(() => rmSync(folder, { recursive: true, force: true }))

test('a progress bar drops the least important parts in a narrow terminal', () => {
  const pace = { rate: 34, secondsLeft: 11 }
  const wide = formatBarLine(step, pace, 79)
  for (const part of ['Indexing', '25 %', '120/480 passages', '11 files', '34/s', '11 s left']) assert.match(wide, part)
  const narrow = formatBarLine(step, pace, 39)
  for (const part of ['Indexing', '25 %', '11 s left']) assert.match(narrow, part)
  for (let columns = 1; columns < 140; columns++)
    assert.ok(stringWidth(formatBarLine(step, pace, columns)) <= columns, `${columns} columns`)
})

test('without a terminal, a line is written only if it says something new', () => {
  const lines: string[] = []
  mock.timers.enable({ apis: ['setInterval', 'Date'] })
  try {
    const display = new ProgressDisplay(false, { write: (text: string) => lines.push(text) } as unknown as NodeJS.WriteStream)
    for (const done of [0, 0, 1, 1]) {
      display.show({ label: 'Recognising', done, total: null, unit: 'files' })
      mock.timers.tick(3_000)
    }
    display.end()
  } finally {
    mock.timers.reset()
  }
  assert.equal(
    lines.map((line) => line.slice(0, 20)),
    ['Recognising…\n', 'Recognising: 1 files'],
  )
})

test('lines below the bar are redrawn with it and erased at the end', async () => {
  let screen = ''
  let drawn = () => {}
  const write = (text: string) => {
    screen += text
    drawn()
  }
  const alive = setInterval(() => {}, 1_000) // the display's own timer lets a process end
  const display = new ProgressDisplay(false, { isTTY: true, columns: 60, write } as unknown as NodeJS.WriteStream)
  const next = () =>
    new Promise<void>((resolve) => {
      drawn = resolve
    })
  display.show({ ...step, below: (columns) => [`${columns} columns`, 'and more'] })
  await next()
  assert.match(screen, /^\r\u001b\[2K.*Indexing.*\n59 columns\nand more$/s)
  assert.not.match(screen, '11 files')
  screen = ''
  await next()
  assert.ok(screen.startsWith('\u001b[2A\r\u001b[J'), JSON.stringify(screen))
  screen = ''
  display.end()
  clearInterval(alive)
  assert.is(screen, '\u001b[2A\r\u001b[J')
})

test('a step without a total has no bar, and a plain line has words', () => {
  assert.not.match(formatBarLine({ ...step, total: null }, { rate: 0, secondsLeft: undefined }, 79), /[█░%]/)
  assert.is(formatPlainLine(step, { rate: 3.25, secondsLeft: 700 }), 'Indexing: 120 of 480 passages, 11 files, 3.3/s, 12 min left')
  assert.is(formatPlainLine({ label: 'Asking', done: 0, total: null, unit: '' }, { rate: 0, secondsLeft: undefined }), 'Asking…')
})

test('the rate is estimated from recent samples and reset for a new label', () => {
  const pacer = new RateEstimator()
  const at = (done: number, seconds: number, label = 'Reading') =>
    pacer.estimate({ label, done, total: 100, unit: 'files' }, seconds * 1000)
  assert.equal(at(0, 0), { rate: 0, secondsLeft: undefined })
  assert.equal(at(10, 2), { rate: 5, secondsLeft: 18 })
  // Without a new sample the rate stays, and the remaining time goes down.
  assert.equal(at(10, 4), { rate: 5, secondsLeft: 16 })
  assert.equal(at(0, 5, 'Indexing'), { rate: 0, secondsLeft: undefined })
})

test('query words match with other endings, and stop words do not match', () => {
  const found = (query: string, text: string) => Array.from(text.matchAll(createQueryPattern(query) ?? /$^/g), ([word]) => word)
  assert.equal(found('How many days of leave do I have?', 'A day of leave. Leaves fall; the holiday is ours.'), ['day', 'leave', 'Leaves'])
  assert.equal(found('有給休暇', '年次有給休暇は二十五日です'), ['有給', '休暇'])
  assert.equal(found('C++ (x.y)*', 'c plus plus'), ['c'])
  assert.is(createQueryPattern('what is the'), undefined)
})

test('a long passage is shortened around the query words', () => {
  const text = `${'Filler stands here. '.repeat(40)}The night train to Lisbon leaves at nine. ${'More filler follows. '.repeat(40)}`
  const cut = extractExcerpt(text, createQueryPattern('night train Lisbon'), 120)
  assert.match(cut, 'The night train to Lisbon leaves at nine.')
  assert.ok(cut.startsWith('… ') && cut.endsWith('…') && cut.length <= 122, cut)
  assert.is(extractExcerpt('short', createQueryPattern('night'), 120), 'short')
  for (const query of ['night train', 'nothing of this'])
    for (let length = 20; length < 400; length += 7) assert.ok(extractExcerpt(text, createQueryPattern(query), length).length <= length + 2)
})

test('a passage shows its number, document, page and headings, and fits the terminal', () => {
  const passage = {
    content: '# Leave\n\n## Annual\n\nEvery employee gets twenty-five days of paid annual leave.\u001b[2J',
    score: 0.9,
    metadata: { source: 'policies/leave.md', page: 3, headings: 'Leave › Annual' },
  }
  const lines = (columns: number) =>
    formatPassage(passage, 1, [], { query: 'leave', full: false, output: { columns, stream: { isTTY: false } as NodeJS.WriteStream } })
  assert.equal(lines(Number.POSITIVE_INFINITY), [
    '[1] policies/leave.md, page 3 · Leave › Annual',
    '    Every employee gets twenty-five days of paid annual leave.',
  ])
  assert.is(lines(40)[0], '[1] policies/leave.md, page 3 · … › Ann…')
  for (const columns of [24, 40, 80]) for (const line of lines(columns)) assert.ok(stringWidth(line) <= columns, line)
})

test('a page number is shown only for documents with pages', () => {
  const places = [
    formatLocation({ source: 'a.pdf', page: 1 }),
    formatLocation({ source: 'https://example.com/B.PDF?v=2', page: 1 }),
    formatLocation({ source: 'c.docx', page: 4 }),
  ]
  assert.equal(places, ['a.pdf, page 1', 'https://example.com/B.PDF?v=2, page 1', 'c.docx, page 4'])
  assert.is(formatLocation({ source: 'https://example.com/paper', page: 2 }), 'https://example.com/paper, page 2')
  for (const source of ['leave.md', 'notes.txt', 'a.pdf.md', 'table.csv']) assert.is(formatLocation({ source, page: 1 }), source)
})

test('knowledge add infers the source type from its argument', async () => {
  mkdirSync(join(folder, 'notes'))
  writeFileSync(join(folder, 'a.md'), 'a')
  const plan = async (target: string, options = {}) => {
    const [{ name, type, configuration, files } = { name: '', type: '', configuration: {}, files: [] }] = await planSources([target], {
      send: false,
      ...options,
    })
    return { name, type, configuration, files: files.map((file) => file.name) }
  }
  assert.equal(await plan(join(folder, 'notes')), {
    name: 'notes',
    type: 'folder',
    configuration: { path: join(folder, 'notes') },
    files: [],
  })
  assert.equal(await plan(join(folder, 'a.md')), { name: 'a', type: 'file', configuration: {}, files: ['a.md'] })
  const page = 'https://www.example.com/manual/'
  assert.equal(await plan(page), { name: 'example.com/manual', type: 'url', configuration: { url: page }, files: [] })
  assert.equal((await plan(page, { depth: 2 })).configuration, { url: page, mode: 'site', max_depth: 2 })
  assert.is(((await plan('https://example.com/sitemap.xml')).configuration as { mode?: string }).mode, 'sitemap')
  for (const repository of ['git@example.com:team/project.git', 'https://example.com/team/project.git'])
    assert.equal(await plan(repository), { name: 'project', type: 'git', configuration: { repository }, files: [] })
  assert.equal((await plan(folder, { type: 'git', name: 'Code' })).configuration, { repository: folder })
})

test('flags that do not apply to the source type are rejected', async () => {
  for (const [target, options] of [
    ['https://example.com', { watch: true }],
    [join(folder, 'a.md'), { include: ['*.md'] }],
    [folder, { depth: 1 }],
    [folder, { send: true, watch: true }],
  ] as const)
    await planSources([target], { send: false, ...options } as Parameters<typeof planSources>[1]).then(
      () => assert.unreachable(target),
      (error: Error) => assert.is(error.name, 'UsageError'),
    )
})

test('files with the same name from two folders get different names', async () => {
  writeFileSync(join(folder, 'notes', 'a.md'), 'b')
  const [addition] = await planSources([join(folder, 'a.md'), join(folder, 'notes', 'a.md')], { send: false })
  const names = addition?.files.map(({ name }) => name) ?? []
  assert.is(new Set(names).size, 2)
  assert.is(names[1], 'notes/a.md')
})

test('files to upload are selected by the rules of the daemon', async () => {
  const root = join(folder, 'tree')
  for (const [file, text] of Object.entries({
    '.gitignore': 'drafts/\n*.log.md\n',
    '.hidden/a.md': '',
    'node_modules/x/readme.md': '',
    'drafts/b.md': '',
    'one.log.md': '',
    'deep/.gitignore': 'private.md\n',
    'deep/private.md': '',
    'deep/kept.md': '',
    'song.mp3': '',
    'top.txt': '',
  })) {
    mkdirSync(join(root, file, '..'), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  const names = async (choice = {}) => (await listFiles(root, choice)).map(({ name }) => name)
  assert.equal(await names(), ['deep/kept.md', 'top.txt'])
  assert.equal(await names({ include: ['**/*.md'] }), ['deep/kept.md'])
  assert.equal(await names({ exclude: ['deep/**'] }), ['top.txt'])
  assert.equal(await names({ include: ['.hidden/**'] }), ['.hidden/a.md'])
  assert.equal(await names({ include: ['deep'] }), ['deep/kept.md'])
  assert.equal(await names({ include: ['[!d]*.txt'] }), ['top.txt'])
  await listFiles(root, { include: ['a'.repeat(1_001)] }).then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, 'is too long'),
  )
})

test('filters are typed, and a repeated key matches any of its values', () => {
  assert.equal(parseFilters(['source=a=b.md', 'page=3', 'page=4', 'draft=false']), { source: 'a=b.md', page: [3, 4], draft: false })
})

test('shell words are quoted where needed', () => {
  assert.equal(['docs', 'Cadre documentation', "it's", 'a;b'].map(quoteShellWord), ['docs', "'Cadre documentation'", "'it'\\''s'", "'a;b'"])
})

test('only loopback addresses are local', () => {
  assert.equal(
    ['http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1', 'http://10.0.0.5:1', 'https://cadre.example.com'].map(isLoopback),
    [true, true, true, false, false],
  )
})

test.run()
