import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseMarkdown } from '../../../daemon/language/parse-markdown.ts'
import { read } from './read-fixture.ts'

const test = suite('reStructuredText')
const convert = async (source: string) => (await read(source, 'a.rst')).text
const outline = async (source: string) => parseMarkdown(await convert(source)).map(({ kind }) => kind)

test('headings have the levels of their marks, and code in them remains code', async () => {
  assert.is(
    await convert('===\nTop\n===\n\n``run`` it\n=========\nText.\n\nMore\n----\nEnd.'),
    '# Top\n\n## `run` it\nText.\n\n### More\nEnd.',
  )
  assert.equal(await outline('UI\n--\n\nText.'), ['heading', 'text'])
})

test('an underline that is too short for a heading does not open code', async () => {
  assert.equal(await outline('A title that is too long\n~~~~\n\nText.\n\n~~~~~~~~\n\nEnd.'), ['heading', 'text', 'rule', 'text'])
})

test('code of directives is fenced with its language and caption, without options and indentation', async () => {
  assert.is(
    await convert('.. code-block:: console\n   :linenos:\n   :caption: Install\n\n   $ apt install x\n     y\n\nText.'),
    'Install:\n\n```console\n$ apt install x\n  y\n```\n\nText.',
  )
  assert.is(await convert('Run:\n.. code:: sh\n\n  ls'), 'Run:\n\n```sh\nls\n```')
  assert.is(await convert('.. math:: a^2'), '```latex\na^2\n```')
})

test('a fence is longer than those in the code', async () => {
  assert.is(await convert('.. code::\n\n   ````md\n   ````'), '`````\n````md\n````\n`````')
})

test('literal blocks are code, and their marks become punctuation or nothing', async () => {
  assert.is(
    await convert('Run::\n\n    a\n\n    b\n\nor ::\n\n\tc\n\n::\n\n  d'),
    'Run:\n\n```\na\n\nb\n```\n\nor\n\n```\nc\n```\n\n```\nd\n```',
  )
})

test('a literal block without indentation has lines with the same mark', async () => {
  assert.is(await convert('Run:\n\n::\n\n$ a\n$ b\n\nDone.'), 'Run:\n\n```\n$ a\n$ b\n```\n\nDone.')
  assert.is(await convert('Nothing::\n\nfollows.'), 'Nothing:\n\nfollows.')
})

test('code in a list belongs to its item', async () => {
  assert.is(
    await convert('- Run::\n\n    a\n\n  then b.\n\n  .. code:: sh\n\n     b'),
    '- Run:\n\n  ```\n  a\n  ```\n\n  then b.\n\n  ```sh\n  b\n  ```',
  )
})

test('sessions of Python are code', async () => {
  assert.is(await convert('>>> 1 + 1\n2\n\nText.'), '```python\n>>> 1 + 1\n2\n```\n\nText.')
})

test('nothing within code is converted', async () => {
  const code = '.. note:: `a <b>`_ ``c``\n:ref:`x`\n| y\n#. z'
  assert.is(await convert(`::\n\n  ${code.replaceAll('\n', '\n  ')}`), `\`\`\`\n${code}\n\`\`\``)
  assert.is(await convert('``:ref:`x <y>` a_ |b|``'), '`` :ref:`x <y>` a_ |b| ``')
})

test('admonitions are paragraphs with their names', async () => {
  assert.is(await convert('.. note:: One\n   two.\n\n   Three.\n\nText.'), '**Note:** One\ntwo.\n\nThree.\n\nText.')
  assert.is(await convert('.. seealso::\n   :class: x\n\n   - a'), '**See also:**\n\n- a')
  assert.is(await convert('.. admonition:: Be *aware*\n\n   Text.'), '**Be *aware*:** Text.')
  assert.is(
    await convert('.. versionadded:: 1.2 The option.\n.. deprecated:: 2.0'),
    '**New in version 1.2:** The option.\n\n**Deprecated since version 2.0**',
  )
  assert.is(await convert('.. tip::\n\n   .. code:: sh\n\n      ls'), '**Tip:**\n\n```sh\nls\n```')
})

test('comments, targets and directives without text are removed', async () => {
  const hidden = [
    '.. a comment\n\n   more of it',
    '..\n   a comment',
    '.. _label:',
    '.. _name: https://example.com',
    '__ https://example.com',
    '.. toctree::\n   :maxdepth: 1\n\n   a',
  ]
  for (const markup of [...hidden, '.. image:: a.png\n   :alt: b', '.. highlight:: sh', '.. |a| image:: b.png', ':orphan:'])
    assert.is(await convert(`One.\n\n${markup}\n\nTwo.`), 'One.\n\nTwo.')
})

test('text below a target or an empty comment is not removed', async () => {
  assert.is(await convert('..\n\n  Kept.\n\n.. _a:\n\n  Kept too.'), '  Kept.\n\n  Kept too.')
  assert.is(await convert('One\n.. and so on.'), 'One\n.. and so on.')
})

test('footnotes, citations and captions keep their text', async () => {
  assert.is(
    await convert('As in [1]_ and [ABC]_.\n\n.. [1] A note\n   of two lines.\n.. [ABC] A book.'),
    'As in [1] and [ABC].\n\n[1] A note\nof two lines.\n\n[ABC] A book.',
  )
  assert.is(await convert('.. figure:: a.png\n   :width: 50%\n\n   The caption.'), 'The caption.')
})

test('descriptions are sections below the heading above them, also nested ones', async () => {
  assert.is(
    await convert(
      'Settings\n========\n\nText.\n\n.. py:data:: NAME\n\n   The name.\n\n   Default: ``a``\n\n.. confval:: f\n   :default: 3',
    ),
    '# Settings\n\nText.\n\n## `NAME`\n\nThe name.\n\nDefault: `a`\n\n## `f`\n\ndefault: 3',
  )
  assert.is(
    await convert('.. py:class:: A(\\*b)\n   :module: c\n\n   .. py:method:: d()\n                  e()\n\n      :returns: e'),
    '# `A(*b)`\n\n## `d()`, `e()`\n\nreturns: e',
  )
})

test('the heading of a long signature is its name', async () => {
  const signature = `read(${'argument, '.repeat(20)}end)`
  assert.is(await convert(`.. function:: ${signature}\n\n   Reads.`), `# \`read\`\n\n\`\`\`\n${signature}\n\`\`\`\n\nReads.`)
})

test('descriptions above other text, in other blocks and of options are list items that begin with what they describe', async () => {
  assert.is(
    await convert('.. option:: --foo <bar>\n            -f\n\n   Sets bar.\n\n   More.'),
    '- `--foo <bar>`, `-f`:\n  Sets bar.\n\n  More.',
  )
  assert.is(await convert('.. data:: A\n\n   Text.\n\nMore.'), '- `A`:\n  Text.\n\nMore.')
  assert.is(await convert('.. note:: One.\n\n   .. data:: A\n\n      - b'), '**Note:** One.\n\n- `A`:\n\n  - b')
  assert.is(await convert('.. envvar:: HOME\n\nText.'), '- `HOME`\n\nText.')
})

test('other directives keep their titles and bodies', async () => {
  assert.is(
    await convert('.. tab:: Linux\n\n   Text.\n\n.. only:: html\n\n   More.\n\n.. new-one:: ``a``\n\n.. rubric:: b'),
    '**Linux:** Text.\n\nMore.\n\n**`a`**\n\n**b**',
  )
})

test('grid tables are tables, also with cells of several lines or columns', async () => {
  const table =
    '+----+--------+\n| A  | B      |\n+====+========+\n| 1  | two    |\n|    | ``li`` |\n+----+--------+\n' +
    '| 1 + 1 is 2  |\n+----+--------+\n| a  | b \\| c |\n|    +--------+\n|    | d      |\n+----+--------+'
  assert.is(
    await convert(`${table}\n\nText.`),
    '| A | B |\n| --- | --- |\n| 1 | two `li` |\n| 1 + 1 is 2 |  |\n| a | b \\| c |\n|  | d |\n\nText.',
  )
})

test('simple tables are tables, also with cells of several lines or columns', async () => {
  const table = '=====  =====\n   Sums\n------------\nA      B\n=====  =====\n1      two\n       lines\n\n\\      3\n=====  ====='
  assert.is(await convert(`${table}\n\nText.`), '| Sums |\n| --- |\n| A | B |\n| 1 | two lines |\n|  | 3 |\n\nText.')
})

test('lists and comma-separated values are tables', async () => {
  assert.is(
    await convert(
      '.. list-table:: Ports\n   :widths: 1 2\n\n   * - Name\n     - Port\n   * - web\n     - 80\n       or a|b\n   * -\n     - x',
    ),
    '**Ports:**\n\n| Name | Port |\n| --- | --- |\n| web | 80 or a\\|b |\n|  | x |',
  )
  assert.is(
    await convert('.. csv-table::\n   :header: Name, Days\n\n   "Leave, paid", 25'),
    '| Name | Days |\n| --- | --- |\n| Leave, paid | 25 |',
  )
})

test('malformed tables keep their text', async () => {
  for (const table of [
    '== ==\na  lost\n',
    '+--+--+\n| a\nlost',
    '.. list-table::\n\n   lost',
    '.. csv-table::\n\n   "lost',
    `+${'-+'.repeat(200)}\n|lost|`,
  ])
    assert.match(await convert(`One.\n\n${table}`), 'lost')
  assert.match(await convert('.. note::\n\n   +--+\n   +--+\n\n   Real text.'), '**Note:** Real text.')
})

test('what looks like markup within a list does not join its items', async () => {
  assert.is(await convert('- C:\\dir\\\n- don`t\n- won`t'), '- C:\\dir\n- don`t\n- won`t')
})

test('lists are numbered, and lists within them too', async () => {
  assert.is(
    await convert('#. a\n#. b\n\n   #. c\n   #. d\n\n#. e\n\nText.\n\n5. f\n#. g'),
    '1. a\n2. b\n\n   1. c\n   2. d\n\n3. e\n\nText.\n\n5. f\n6. g',
  )
})

test('line blocks, numbers and replacements are text, not tables or headings', async () => {
  assert.equal(await outline('| One\n| two\n\n# of items\n\n|release| is out.'), ['text', 'text', 'text'])
  assert.is(await convert('| One\n|  two\n|\n| three'), 'One\ntwo\n\nthree')
})

test('fields are lines of a record', async () => {
  assert.is(await convert(':Author: Ann Lee\n:Version: 2'), 'Author: Ann Lee\nVersion: 2')
})

test('links have their addresses, and references their texts', async () => {
  assert.is(
    await convert(
      'See `the\nguide <https://example.com/\na_(b)>`__, `more <x_>`_, `this one`_, that_, those__ and `<https://example.com>`_.',
    ),
    'See [the guide](https://example.com/a_%28b%29), more, this one, that, those and https://example.com.',
  )
  assert.is(
    await convert('a_b, __init__, _x, *y*, https://example.com/a_ and `z`'),
    'a_b, __init__, _x, *y*, https://example.com/a_ and `z`',
  )
})

test('roles are text, or code if they name code', async () => {
  assert.is(
    await convert(':ref:`Text <a>`, :doc:`b`, :func:`~c.d`, :py:class:`E <f.E>`, :option:`--g <h>`, :envvar:`I`, :pep:`8`, :issue:`12`'),
    'Text, b, `c.d`, `E`, `--g <h>`, `I`, PEP 8, issue 12',
  )
  assert.is(await convert('See :ref:`my label`.\n\n.. _My Label:\n\nInstall ``x``\n============='), 'See Install `x`.\n\n# Install `x`')
})

test('escapes, replacements and tags are shown as their text', async () => {
  assert.is(await convert('``a``\\ s and ``b``\\s, \\*c\\*, \\:d, C:\\e and <name>'), '`a`s and `b`s, \\*c\\*, :d, C:\\e and `<name>`')
  assert.is(await convert('.. |a| replace:: The *Thing*\n\n|a| and |b|.'), 'The *Thing* and |b|.')
})

test('unknown and malformed markup is kept as text', async () => {
  for (const text of ['``open', '`open', ':role:`open', '`a <b', 'a |b', '[1', '.', 'a::b', '*'])
    assert.is(await convert(`One ${text} two`), `One ${text} two`)
})

test('bodies that are nested deeply are kept', async () => {
  const depths = Array.from({ length: 300 }, (_, depth) => `${'  '.repeat(depth)}.. note:: n${depth}`)
  const text = await convert(depths.join('\n\n'))
  assert.match(text, '**Note:** n3')
  assert.match(text, 'n299')
  const empty = Array.from({ length: 12 }, (_, depth) => `${'   '.repeat(depth)}.. note::`)
  assert.match(await convert(`${empty.join('\n\n')}\n\n${'   '.repeat(12)}Deep text.`), 'Deep text.')
})

test('names that contain names do not grow exponentially', async () => {
  const chain = Array.from({ length: 20 }, (_, index) => `.. |a${index + 1}| replace:: ${`|a${index}|`.repeat(20)}`)
  const text = await convert(`.. |a0| replace:: ${'x'.repeat(90)}\n${chain.join('\n')}\n\n|a20|`)
  assert.ok(text.length < 10_000, String(text.length))
})

test('repetitive and malformed documents have a text of bounded length', async () => {
  const units = [
    '.. a::\n',
    '.. note:: ',
    '..\n',
    '.. |a| replace:: b\n|a|',
    '`',
    '``',
    '`a <',
    ':a:`',
    'a_',
    '|a',
    '\\',
    '<a',
    'a::\n\n',
    '+-+\n|',
    '== ==\n',
    '= ',
    '>>> ',
    '#. ',
    ' ',
    '\t\n',
  ]
  units.push('.. csv-table::\n\n "', '.. list-table::\n\n * - a\n   - b\n', '.. code::\n\n ```\n')
  for (const unit of units) {
    const source = `start\n\n${unit.repeat(20_000 / unit.length)}\n\nend`
    assert.ok((await convert(source)).length < 3 * source.length, JSON.stringify(unit))
  }
  const wide = '== '.repeat(100)
  assert.ok((await convert(`${wide}\n${'x\n'.repeat(10_000)}${wide}\n`)).length < 100_000)
  const indent = ' '.repeat(10_000)
  assert.ok((await convert(`${indent}+--+\n${'| x |\n'.repeat(1000)}`)).length < 50_000)
})

test.run()
