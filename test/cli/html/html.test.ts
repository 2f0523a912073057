import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatSideBySide } from '../../../src/cli/html/diff.ts'
import { html } from '../../../src/cli/html/html.ts'
import { renderMarkdownHtml } from '../../../src/cli/html/markdown.ts'
import { formatPage } from '../../../src/cli/html/page.ts'
import { formatOmission, TextLimit } from '../../../src/cli/html/text-limit.ts'
import { writeReport } from '../../../src/cli/html/write-report.ts'
import { createSamples } from './sample-reports.ts'

const test = suite('html')
const render = (text: string) => renderMarkdownHtml(text).markup

test('interpolated text is escaped and has no control characters; templates and lists of them are markup', () => {
  const items = ['a', '<b>'].map((text) => html`<li title="${text}">${text}</li>`)
  assert.is(html`<ul>${items}${undefined}${1}</ul>`.markup, '<ul><li title="a">a</li><li title="&lt;b&gt;">&lt;b&gt;</li>1</ul>')
  assert.is(html`${`"'&\u001b[31m\u202e\u0000x`}`.markup, '&quot;&#39;&amp;x')
})

test('a page allows its own style sheet and nothing else', () => {
  const page = formatPage({ title: '<title>', subtitle: '', body: [] })
  const style = /<style>([\s\S]*)<\/style>/.exec(page)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
  assert.match(page.replaceAll('&#39;', "'"), `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
  assert.match(page, '<title>&lt;title&gt;</title>')
  assert.not.match(style, /url\(|@import/)
})

test('no report contains markup from its data, or an attribute that loads or runs something', () => {
  for (const [name, text] of Object.entries(createSamples())) {
    assert.not.match(text, /<(?:script|img|iframe|object|embed|link|base|form|input)\b/i, name)
    assert.not.match(text, /<[^>]*\s(?:on\w+|style|src)\s*=/i, name)
    assert.is(text.match(/<meta http-equiv/g)?.length, 1, name)
  }
})

test('Markdown becomes HTML, and HTML in it is text', () => {
  assert.is(render('**a** *b* ~~c~~ `<d>`'), '<p dir="auto"><strong>a</strong> <em>b</em> <s>c</s> <code>&lt;d&gt;</code></p>\n')
  assert.match(render('# A\n\n- [x] b\n\n3. c'), /<h3 dir="auto">A<\/h3>[\s\S]*☑ [\s\S]*<ol start="3">/)
  assert.match(render('| a |\n|---|\n| <i>b</i> |'), /<td dir="auto"><span class="dim">&lt;i&gt;<\/span>b/)
  assert.match(
    render('```js\nconst a = "<b>"\n```'),
    '<span class="magenta">const</span> a = <span class="green">&quot;&lt;b&gt;&quot;</span>',
  )
  assert.match(render('a &lt;b&gt; &amp;'), 'a &lt;b&gt; &amp;')
})

test('only web and mail links are links, and images are links to them', () => {
  assert.match(
    render('[a](https://example.com/?b=1&c="d")'),
    '<a href="https://example.com/?b=1&amp;c=&quot;d&quot;" rel="noopener noreferrer">a</a>',
  )
  for (const target of [
    'javascript:alert(1)',
    'JaVaScRiPt&#58;alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//example.com',
  ])
    assert.not.match(render(`[a](${target}) ![b](${target})`), '<a ', target)
  assert.match(render('![b](https://example.com/b.png)'), '<a href="https://example.com/b.png" rel="noopener noreferrer">[image: b]</a>')
})

test('citations link to their passage if there is one', () => {
  const { markup } = renderMarkdownHtml('a [1] b [2]', (index) => (index === 1 ? 'c1' : undefined))
  assert.match(markup, 'a <a href="#c1">[1]</a> b [2]')
})

test('deeply nested Markdown is shown as text', () => {
  assert.match(render(`${'> '.repeat(20_000)}a`), 'a')
})

test('words that differ are marked, unless the texts have little in common', () => {
  const side = (heading: string, text: string) => ({ heading, text: { text, omitted: 0 } })
  const { markup } = formatSideBySide(side('A', 'You get 25 days.'), side('B', 'You get 27 <days>.'))
  assert.match(markup, 'You get <del>25</del> ')
  assert.match(markup, 'You get <ins>27</ins> ')
  assert.match(markup, '&lt;')
  assert.not.match(formatSideBySide(side('A', 'one two'), side('B', 'three four')).markup, /<(?:ins|del)>/)
  const words = (word: string) => Array.from({ length: 4000 }, (_, index) => `${word}${index}`).join(' ')
  assert.not.match(formatSideBySide(side('A', words('a')), side('B', words('b'))).markup, /<(?:ins|del)>/)
})

test('long texts are shortened with a note, and further texts even more when the report is full', () => {
  const limit = new TextLimit(1000, 1500)
  assert.equal(
    [1_000_000, 1000, 1000, 100].map((length) => limit.shorten('x'.repeat(length)).text.length),
    [1000, 500, 200, 100],
  )
  assert.match(formatOmission(999_000).markup, '… 999,000 more characters not shown')
  assert.is(formatOmission(0).markup, '')
})

test('a report overwrites an existing file only with --force, and writes to devices', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-report-'))
  const file = join(folder, 'report.html')
  const notes: string[] = []
  const write = (text: string, force: boolean, to = file) => writeReport(to, text, { force }, (line) => notes.push(line))
  try {
    write('first', false)
    assert.throws(() => write('second', false), /report\.html already exists/)
    assert.is(readFileSync(file, 'utf8'), 'first')
    write('third', true)
    assert.equal([readFileSync(file, 'utf8'), notes.length], ['third', 2])
    assert.throws(() => write('fourth', false, join(folder, 'none', 'report.html')), /cannot be written/)
    if (process.platform !== 'win32') write('fifth', false, '/dev/null')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.run()
