import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { read, readOutcome } from './read-fixture.ts'

const test = suite('texts and web pages')

test('newlines are normalized and control characters are removed', async () => {
  const { text, format } = await read(`one\r\ntwo\rthree\u0000\u0007 \ufefffour\u2028five${' and more words'.repeat(5)}`, 'a.txt')
  assert.is(text, `one\ntwo\nthree four\nfive${' and more words'.repeat(5)}`)
  assert.is(format, 'plain')
})

test('lone surrogates are replaced', async () => {
  const { text } = await read(Buffer.from(`\ufeffa\ud800b${'c'.repeat(50)}`, 'utf16le'), 'a.txt')
  assert.is(text, `a\ufffdb${'c'.repeat(50)}`)
})

test('Markdown is unchanged, and its title comes from the front matter or the first heading', async () => {
  const source = '# Leave #\n\nTwenty-five days.\n\n```js\nx()\n```'
  assert.equal(await read(source, 'a.md'), { text: source, format: 'markdown', pages: [], title: 'Leave' })
  assert.is((await read('---\ntitle: "From the matter"\n---\n\n# Other\n', 'a.md')).title, 'From the matter')
})

test('a .txt file with headings is Markdown, and a shell script is code', async () => {
  assert.is((await read('# A\n\nx\n\n## B\n\ny\n\n## C\n\nz', 'notes.txt')).format, 'markdown')
  assert.is((await read('# a comment\n# another\n# third\necho 1', 'run.sh')).format, 'code')
})

test('reStructuredText headings become Markdown headings in the order of their underlines', async () => {
  const { text, title } = await read(
    '======\nManual\n======\n\nIntro.\n\nUsage\n-----\n\nText.\n\nMore\n~~~~\n\nEnd.\n\nInstall\n-------\n\nX.',
    'a.rst',
  )
  assert.is(text, '# Manual\n\nIntro.\n\n## Usage\n\nText.\n\n### More\n\nEnd.\n\n## Install\n\nX.')
  assert.is(title, 'Manual')
})

test('each row of a table repeats the column names', async () => {
  const { text, format } = await read('name,city\n"Sato, Taro",Tokyo\nMiki,\n', 'a.csv')
  assert.is(text, 'name: Sato, Taro\ncity: Tokyo\n\nname: Miki')
  assert.is(format, 'table')
})

test('the delimiter of a table is detected, and the header is optional', async () => {
  assert.is((await read('name;city\nSato;Tokyo', 'a.csv')).text, 'name: Sato\ncity: Tokyo')
  assert.is((await read('name\tcity\nSato\tTokyo', 'a.tsv')).text, 'name: Sato\ncity: Tokyo')
  assert.is((await read('1,2\n3,4', 'a.csv')).text, '1 | 2\n\n3 | 4')
})

test('quoted cells may contain delimiters, quotes and newlines', async () => {
  assert.is((await read('a,b\r\n"x, ""y""","two\r\nlines"\r\n , "z" \r\n', 'a.csv')).text, 'a: x, "y"\nb: two\nlines\n\nb: z')
})

test('a table with an unclosed quote is read line by line', async () => {
  assert.is((await read('a,b\n"open,1\n2,3', 'a.csv')).text, 'a: "open\nb: 1\n\na: 2\nb: 3')
})

test('text after a closing quote does not make a table unreadable', async () => {
  assert.is((await read('a,b\n"x" y,1\n"2, 3",4', 'a.csv')).text, 'a: "x" y\nb: 1\n\na: 2, 3\nb: 4')
})

test('JSON becomes records of paths and values', async () => {
  const source = JSON.stringify({
    company: 'Zava',
    people: [{ name: 'Sato', tags: ['a', 'b'], home: { city: 'Tokyo' } }, { name: 'Miki' }],
  })
  assert.is(
    (await read(source, 'a.json')).text,
    'company: Zava\n\npeople.name: Sato\npeople.tags: a, b\npeople.home.city: Tokyo\n\npeople.name: Miki',
  )
  assert.is((await read('{"a":1}\nnot json\n{"a":2}\n', 'a.jsonl')).text, 'a: 1\n\nnot json\n\na: 2')
})

test('an invalid JSON file is read as code', async () => {
  const source = '{ // with a comment\n  "a": 1,\n}'
  assert.equal(await read(source, 'a.json'), { text: source, format: 'code', pages: [], title: null })
})

test('an HTML page keeps headings, lists, tables and code, and loses its boilerplate', async () => {
  const { text, title } = await read(
    `<!doctype html><html><head><title>Guide</title><style>p{}</style><script>alert("no")</script></head><body>
    <nav><a href="/">Home</a></nav><header><a href="/">Logo</a></header>
    <main><h1>Guide</h1><p>Some <b>bold</b> &amp; <i>plain</i>&nbsp;text with <code>code()</code>.<br>New line.</p>
    <ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul><ol start="3"><li>three</ol>
    <table><tr><th>Name<th>Days<tr><td>Leave<td>25</table>
    <pre><code class="language-js">if (a &lt; b) {
  go()
}</code></pre><blockquote><p>Said.</p></blockquote><p hidden>secret</p><div style="display: none">hidden</div></main>
    <footer>Imprint</footer></body></html>`,
    'a.html',
  )
  assert.is(
    text,
    '# Guide\n\nSome bold & plain text with `code()`.\nNew line.\n\n- one\n  - inner\n- two\n\n3. three\n\n' +
      '| Name | Days |\n| --- | --- |\n| Leave | 25 |\n\n' +
      '```js\nif (a < b) {\n  go()\n}\n```\n\n> Said.',
  )
  assert.is(title, 'Guide')
})

test('definitions of an HTML page are list items, with all their paragraphs', async () => {
  const definitions = '<dl><dt>Single room<dd>80 euros.<dt>Breakfast?<dt>Dinner<dd><p>At 7.</p><p>Not on Sundays.</p></dl><p>Text.</p>'
  assert.is(
    (await read(`<html><body>${definitions}</body></html>`, 'a.html')).text,
    '- Single room: 80 euros.\n- Breakfast?\n- Dinner:\n\n  At 7.\n\n  Not on Sundays.\n\nText.',
  )
})

test('the marks of footnotes in an HTML page are removed, but not the links of Sphinx', async () => {
  const text = 'See <a class="reference internal" href="#b">the guide</a>.<sup class="reference">[1]</sup>'
  assert.is((await read(`<html><body><p>${text}</p></body></html>`, 'a.html')).text, 'See the guide.')
})

test('an HTML page without a heading starts with its title, and a page of links keeps them', async () => {
  assert.is(
    (await read('<html><title>About us</title><body><p>We are here.</p></body></html>', 'a.html')).text,
    '# About us\n\nWe are here.',
  )
  const links = Array.from({ length: 20 }, (_, index) => `<li><a href="/${index}">Entry ${index}</a></li>`).join('')
  assert.match((await read(`<html><body><ul>${links}</ul></body></html>`, 'a.html')).text, '- Entry 19')
})

test('the text of form elements is read if an HTML page has no other', async () => {
  const select = '<select><option>Berlin</option><option>Paris</option></select>'
  assert.is((await read(`<html><body>${select}</body></html>`, 'a.html')).text, 'Berlin\n\nParis')
  assert.is((await read(`<html><body><p>Choose a city.</p>${select}</body></html>`, 'a.html')).text, 'Choose a city.')
})

test('an HTML page is recognized by its content, and tags in a text are text', async () => {
  assert.is((await read('<!DOCTYPE html><p>Told by its content.', 'page.txt')).text, 'Told by its content.')
  assert.is((await read('Use <b> for bold.', 'a.txt')).text, 'Use <b> for bold.')
})

test('character references are decoded, and unknown ones are kept', async () => {
  assert.is((await read('<p>&lt;&eacute;&#233;&#xe9;&#150;&nope; a&b &copy 2', 'a.html')).text, '<ééé–&nope; a&b © 2')
  assert.is((await read('<p>&ccaron;&rightarrow;&lat; <img alt="x&copy=1&amp;">', 'a.html')).text, 'č→⪫ x&copy=1&')
})

test('an empty or binary file reports its kind', async () => {
  assert.is(await readOutcome('', 'a.txt'), 'The document is empty.')
  assert.is(await readOutcome(' \n\t ', 'a.md'), 'The document is empty.')
  assert.is(await readOutcome('<html><body><script>1</script></body></html>', 'a.html'), 'The document is empty.')
  assert.is(await readOutcome(Buffer.from('89504e470d0a1a0a0000', 'hex'), 'a.txt'), 'The PNG image is damaged: it ends early.')
  assert.is(
    await readOutcome(Buffer.from(Array.from({ length: 4_000 }, (_, index) => (index * 7_919 + (index >> 3)) % 256)), 'a.txt'),
    'This is not a text document.',
  )
})

test.run()
