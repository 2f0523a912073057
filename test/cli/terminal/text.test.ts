/** Width, truncation, wrapping and sanitizing of text, and output formats. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatCitations } from '../../../src/cli/ask/format-citations.ts'
import { countUncited, formatCitedAnswer } from '../../../src/cli/ask/format-cited-answer.ts'
import { createQueryPattern } from '../../../src/cli/ask/format-passages.ts'
import { stripControlSequences } from '../../../src/cli/terminal/color.ts'
import { formatBytes, formatDuration } from '../../../src/cli/terminal/format-quantity.ts'
import { MarkdownPrinter } from '../../../src/cli/terminal/markdown/markdown-printer.ts'
import { render } from '../../../src/cli/terminal/render.ts'
import { formatRecord, formatTable } from '../../../src/cli/terminal/table.ts'
import { sanitizeLine, sanitizeText, stringWidth, truncate, wrap } from '../../../src/cli/terminal/text.ts'
import { suggestWord } from '../../../src/contract/suggest.ts'

const test = suite('terminal text')
const output = (columns: number) => ({ columns, stream: { isTTY: false } as NodeJS.WriteStream })

test('stringWidth counts wide, combining and invisible characters as terminals do', () => {
  assert.equal(['abc', 'größe', '日本語', '👩‍👩‍👧', 'e\u0301', '한국', '❤️', ''].map(stringWidth), [3, 5, 6, 2, 1, 4, 2, 0])
  assert.equal(['สิทธิ์', 'น้ำ', 'ສິດ', 'ນ້ຳ', 'á\u0300日'].map(stringWidth), [3, 1, 2, 1, 3])
})

test('long text without spaces in any script is measured, wrapped and printed', () => {
  const scripts = ['พนักงานทุกคนมีสิทธิ์ลาพักร้อน', 'ພະນັກງານທຸກຄົນມີສິດ', '👩‍👩‍👧', 'e\u0301', 'a']
  for (const script of scripts) {
    const text = script.repeat(Math.ceil(50_000 / script.length))
    stringWidth(text)
    wrap(text, 80)
    const printer = new MarkdownPrinter(() => output(80))
    for (let at = 0; at < text.length; at += 2_000) printer.push(text.slice(at, at + 2_000))
    printer.end()
    createQueryPattern(text)
  }
})

test('passages found before a cited one are listed as not cited', () => {
  const passage = (index: number, cited: boolean) => ({
    index,
    source: `${index}.md`,
    page: 1,
    document_id: 'd',
    content: 'Text.',
    score: 1,
    cited,
  })
  const last = (...cited: boolean[]) =>
    formatCitations(
      cited.map((one, at) => passage(at + 1, one)),
      '',
      { query: 'text', output: output(80) },
    ).at(-1)
  assert.is(last(false, true, false), '[1] was also found but is not cited.')
  assert.is(last(false, true, false, true), '[1] and [3] were also found but are not cited.')
  assert.match(last(true, true, false) ?? '', 'Text.')
  assert.is(last(false, false), undefined)
  const narrow = formatCitations([passage(1, false), passage(2, true)], '', { query: 'text', output: output(20) })
  assert.equal(narrow.slice(-2), ['[1] was also found', 'but is not cited.'])
})

test('truncated text ends in an ellipsis and fits its columns', () => {
  assert.is(truncate('abcdef', 4), 'abc…')
  assert.is(truncate('日本語', 4), '日…')
  assert.is(truncate('abcd', 4), 'abcd')
  for (let columns = 1; columns < 12; columns++) assert.ok(stringWidth(truncate('a日b本👩‍👩‍👧cd語', columns)) <= columns)
})

test('wrapped lines fit and lose no characters', () => {
  const text = 'The quick brown fox jumps over the lazydogwhohasaverylongname and 日本語日本語 sleeps'
  for (const columns of [8, 10, 20, 33]) {
    const lines = wrap(text, columns)
    assert.ok(lines.every((line) => stringWidth(line) <= columns))
    assert.is(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''))
  }
})

test('escape sequences, control characters and bidirectional marks are removed', () => {
  const evil = 'a\u001b[31mred\u001b[0m\u001b]0;title\u0007\u001b]8;;http://x\u001b\\link\u0000\u0008\u009b2J\u202Eabc\rxyz'
  assert.is(sanitizeText(evil), 'aredlink2Jabc\nxyz')
  assert.is(sanitizeLine('two\n\tlines \u001b[2J'), 'two lines')
})

test('messages keep our own colors and no other escape sequences', () => {
  const line = `\u001b[1mCreated\u001b[22m evil\u202e\u009b2J\u001b[2J\u001b]0;title\u0007 \u001b]0;open \u001b[2mdim\u001b[22m`
  assert.is(stripControlSequences(line), '\u001b[1mCreated\u001b[22m evil2J \u001b[2mdim\u001b[22m')
})

test('an answer indents its code, wraps its prose and lists the passages it cites, or all', () => {
  const passage = (source: string) => ({ content: 'Twenty-five days.', score: 1, metadata: { source, page: 1 } })
  const answer = 'Twenty-five days of paid leave [2].\n\n```sh\ncadre ask "How many days of leave do I have?"\n```'
  const result = { query: 'leave', answer, results: [passage('a.md'), passage('b.md')] }
  const text = ['Twenty-five days of paid leave', '[2].', '', '  cadre ask "How many days of leave do I have?"']
  const cited = ['', '[2] b.md', '    Twenty-five days.']
  assert.equal(formatCitedAnswer(result, { output: output(30) }).split('\n'), [...text, ...cited])
  const all = formatCitedAnswer(result, { output: output(30), all: true }).split('\n')
  assert.equal(all, [...text, '', '[1] a.md', '    not cited', '    Twenty-five days.', ...cited])
  const counts = ['None.', 'One [1].', 'Both [1, 2].', 'Both [1–2].', 'Odd [2-1] [9999999999-99999999999].'].map((answer) =>
    countUncited({ ...result, answer }),
  )
  assert.equal(counts, [2, 1, 0, 0, 2])
})

test('values are short in tables and complete in records', () => {
  const row = { tools: ['a', 'b'], enabled: true, nothing: null, cases: [{ input: 'x' }, { input: 'y' }], text: 'one\ntwo' }
  assert.is(formatTable([row], Object.keys(row), output(200)).split('\n')[1]?.replaceAll(/ {2,}/g, '|'), 'a, b|yes|2|one two')
  assert.is(
    formatRecord(row, output(Number.POSITIVE_INFINITY)),
    'tools    a\n         b\nenabled  yes\nnothing  –\ncases    input: x\n         input: y\ntext     one\n         two',
  )
})

test('in a narrow terminal, the values of a record are below their names', () => {
  const row = { name: 'pay', requires_confirmation: true, description: 'Pays an amount of money to somebody.' }
  const lines = formatRecord(row, output(40)).split('\n')
  assert.equal(lines, ['name', '  pay', 'requires confirmation', '  yes', 'description', '  Pays an amount of money to somebody.'])
  assert.is(formatRecord(row, output(80)).split('\n')[0], 'name                   pay')
})

test('JSON and YAML contain the exact data with control characters escaped', async () => {
  const { parse } = await import('yaml')
  const data = [{ id: '1', text: 'a\u001b[2J\u009b2J\u007f\u202e\nb', none: null }]
  const { text: json } = await render({ data }, 'json')
  const { text: yaml } = await render({ data }, 'yaml')
  assert.equal(JSON.parse(json), data)
  assert.equal(parse(yaml), data)
  for (const text of [json, yaml]) assert.not.match(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
})

test('CSV quotes cells with commas, quotes, line breaks and outer spaces', async () => {
  const data = [
    { id: 1, name: 'a "quoted", name', tags: ['x'] },
    { id: 2, name: 'two\nlines', extra: null },
  ]
  assert.is((await render({ data }, 'csv')).text, 'id,name,tags,extra\r\n1,"a ""quoted"", name","[""x""]",\r\n2,"two\nlines",,')
})

test('CSV contains no escape sequences, unless they are asked for', async () => {
  const data = [{ name: 'evil \u001b[2Jname\u009b1m', text: 'two\r\nlines' }]
  assert.is((await render({ data }, 'csv')).text, 'name,text\r\nevil name1m,"two\nlines"')
  assert.is((await render({ data }, 'csv', { raw: true })).text, 'name,text\r\nevil \u001b[2Jname\u009b1m,"two\r\nlines"')
})

test('suggestions contain similar words only', () => {
  assert.is(suggestWord('agnets', ['agents', 'models']), 'agents')
  assert.is(suggestWord('agents:lst', ['agents:list', 'agents:show']), 'agents:list')
  assert.is(suggestWord('frobnicate', ['agents', 'models']), undefined)
  assert.is(suggestWord('aks', ['ask', 'api']), 'ask', 'swapped neighbours are one change')
  assert.is(suggestWord('sak', ['task', 'api']), undefined)
  assert.is(suggestWord('sak', ['task', 'api'], 2), 'task')
})

test('sizes and durations are rounded', () => {
  assert.equal([0, 999, 1_500, 84_800_000_000].map(formatBytes), ['0 B', '999 B', '1.5 kB', '84.8 GB'])
  assert.equal([0, 59, 61, 7_384, 90_061].map(formatDuration), ['0 s', '59 s', '1 min 1 s', '2 h 3 min', '1 d 1 h'])
})

test.run()
