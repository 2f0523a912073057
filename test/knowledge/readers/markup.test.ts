import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { removeMarkup } from '../../../daemon/knowledge/readers/remove-markup.ts'
import { read, readOutcome } from './read-fixture.ts'

const test = suite('markup of Markdown that is not text')

const BADGE = '[![npm version](https://img.shields.io/npm/v/tool.svg)](https://npmjs.com/tool)'

test('anchors are removed with their lines', () => {
  assert.is(removeMarkup('### `bodyLimit`\n<a id="factory-body-limit"></a>\n\nThe limit.'), '### `bodyLimit`\n\nThe limit.')
  assert.is(removeMarkup('<a name="top"></a>\n\n# Title'), '# Title')
  assert.is(removeMarkup('## <a id=x></a>Title\n\nText <span id="y"></span>here.'), '## Title\n\nText here.')
  assert.is(removeMarkup('One.\n<a id="x"/>\nTwo.'), 'One.\n\nTwo.')
  assert.is(removeMarkup('One.\n\n<a id="x">\n\nTwo.'), 'One.\n\nTwo.')
})

test('links with text are kept', () => {
  const text = 'See <a href="http://x">the page</a> and [the other](http://y) and <https://z>.'
  assert.is(removeMarkup(text), text)
})

test('comments are removed, also over several lines, unless they do not end', () => {
  assert.is(removeMarkup('One.\n\n<!-- -->\n\nTwo.'), 'One.\n\nTwo.')
  assert.is(removeMarkup('One <!-- omit --> two.\n\n<!--\n# Draft\n\n```\nnot shown\n-->\n\nThree.'), 'One two.\n\nThree.')
  assert.is(removeMarkup('One.\n<!-- two\n\nThree.'), 'One.\n<!-- two\n\nThree.')
  assert.is(removeMarkup('Title\n<!-- x -->\n---\n'), 'Title\n\n---\n')
})

test('badges are removed: images, links, references and tags', () => {
  assert.is(removeMarkup(`# Tool ${BADGE}\n\n${BADGE} | ${BADGE}\n\nA tool.`), '# Tool\n\nA tool.')
  assert.is(removeMarkup('![Build](https://github.com/a/b/actions/workflows/ci.yml/badge.svg)\n\nA tool.'), 'A tool.')
  assert.is(removeMarkup('[![NPM\nversion](https://img.shields.io/npm/v/x.svg)](https://npmjs.com/x)\nA tool.'), 'A tool.')
  const references = '[![npm][npm-badge]][npm] ![ci][ci-badge]\n\nA tool.\n\n'
  const definitions = '[npm-badge]: https://img.shields.io/npm/v/x\n[ci-badge]: https://badgen.net/ci\n[npm]: https://npmjs.com/x'
  assert.is(removeMarkup(references + definitions), 'A tool.\n\n[npm]: https://npmjs.com/x')
  const html = '<p align="center">\n  <a href="http://x"><img src="https://img.shields.io/x" alt="x"></a>\n</p>\n\nA tool.'
  assert.is(removeMarkup(html), 'A tool.')
})

test('other images keep their text', () => {
  assert.is(removeMarkup('![Floor plan](plan.png)'), '![Floor plan](plan.png)')
  assert.is(removeMarkup('<img\n  src="plan.png"\n  alt="Floor plan">'), 'Floor plan')
})

test('code is kept', () => {
  const kept = [
    '```html\n<a id="x"></a>\n<!-- a -->\n```',
    '    <a id="x"></a>',
    `Write \`<a id="x"></a>\` or \`\`${BADGE}\`\` or \`<!-- x -->\`.`,
  ]
  for (const text of kept) assert.is(removeMarkup(`Text.\n\n${text}\n\nMore.`), `Text.\n\n${text}\n\nMore.`)
})

test('a document of badges and anchors is empty', async () => {
  const { text } = await read(`${BADGE}\n\n<a id="x"></a>\n\n# Tool\n\nText.`, 'README.md')
  assert.is(text, '# Tool\n\nText.')
  assert.match(String(await readOutcome(`${BADGE}\n${BADGE}\n<!-- nothing -->\n`, 'README.md')), /empty/)
})

test('words of a text are never lost', () => {
  const part = fc.constantFrom(
    'word',
    ' ',
    '\n',
    '\n\n',
    '`',
    '```\n',
    '<a id="x"></a>',
    '<a>',
    '</a>',
    '<!--',
    '-->',
    BADGE,
    '![',
    '](',
    ')',
    '<p>',
    '[x]: ',
    '    ',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const text = parts
        .join('')
        .replaceAll(/<!--[\s\S]*?-->/g, ' ')
        .replaceAll(/\[x\]: |!?\[[\s\S]*?\)/g, ' ')
      assert.is(removeMarkup(text).match(/word/g)?.length, text.match(/word/g)?.length, JSON.stringify(text))
    }),
    { numRuns: 500 },
  )
})

test('markup is removed from a megabyte of repeated syntax', () => {
  for (const unit of ['<a ', '<!-- ', '<!---->`', '[![', '![a](', '`', '`` ', '<img ', '<p>', '[a]: ', '<span>', BADGE])
    for (const end of ['', '\n']) assert.type(removeMarkup(`${(unit + end).repeat(1_000_000 / (unit.length + 1))}-->`), 'string')
})

test.run()
