/** Tables at the width of a terminal: truncated cells, lines below rows and hidden columns. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatTable, layOutTable, type Row } from '../../../src/cli/terminal/table.ts'
import { stringWidth } from '../../../src/cli/terminal/text.ts'

const test = suite('tables')
const output = (columns: number) => ({ columns, stream: { isTTY: false } as NodeJS.WriteStream })
const identifier = (prefix: string, last: number) => `${prefix}_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3${last}`
const lines = (rows: readonly Row[], columns: readonly string[], size: number) => formatTable(rows, columns, output(size)).split('\n')

test('a table fits its width, and IDs and times are never truncated', () => {
  const id = identifier('agent', 0)
  const rows = [{ id, name: 'x'.repeat(50), description: '日'.repeat(40), created_at: '2026-01-31T09:30:00.000Z' }]
  const columns = ['id', 'name', 'description', 'created_at']
  for (let size = 20; size < 160; size++) {
    const shown = lines(rows, columns, size)
    assert.ok(
      shown.every((line) => stringWidth(line) <= size),
      `${size} columns`,
    )
    assert.not.match(shown.join('\n'), /2026-[^ ]*( 09)?…|agent_[^ ]*…/)
  }
  assert.match(lines(rows, columns, Number.POSITIVE_INFINITY)[1] ?? '', '2026-01-31 09:30')
  assert.ok(lines(rows, columns, 140)[1]?.startsWith(`${id} `))
})

const CONVERSATIONS = ['id', 'title', 'agent', 'status', 'updated_at']
const conversation = (last: number, title: string | null) => ({
  id: identifier('conv', last),
  title,
  agent: 'Handbook helper',
  status: 'active',
  updated_at: '2026-01-31T09:30:00.000Z',
})

test('names have priority over IDs and times, and hidden columns are reported', () => {
  const rows = [conversation(1, 'How many days of leave do I have?'), conversation(2, 'Travel')]
  const wide = layOutTable(rows, CONVERSATIONS, output(80))
  assert.match(wide.text, /^How many days of leave do I have\? {2}Handbook helper {2}active {2}2026-01-31 09:30$/m)
  assert.equal(wide.hidden, ['ID'])
  const narrow = layOutTable(rows, CONVERSATIONS, output(40))
  assert.match(narrow.text, /^How many days of le… {2}Handbook … {2}active$/m)
  assert.equal(narrow.hidden, ['ID', 'UPDATED AT'])
  assert.equal(layOutTable(rows, CONVERSATIONS, output(140)).hidden, [])
})

test('a row without a unique name has its ID below it', () => {
  const rows = [conversation(1, 'Leave'), conversation(2, 'Leave'), conversation(3, null), conversation(4, 'Travel')]
  for (const size of [40, 70]) {
    const { text, hidden } = layOutTable(rows, CONVERSATIONS, output(size))
    const below = text.split('\n').filter((line) => line.includes('conv_'))
    assert.equal(
      below.map((line) => line.trim()),
      rows.slice(0, 3).map(({ id }) => id),
      'in full, on its own line',
    )
    assert.ok(hidden.includes('ID'), 'not every row shows it')
  }
})

test('without a name column, IDs are shown next to or below the row', () => {
  const run = { id: identifier('run', 1), status: 'completed', pass_rate: '100 %', created_at: '2026-01-31T09:30:00.000Z' }
  assert.match(lines([run], Object.keys(run), 64)[1] ?? '', /^run_\S+ {2}completed {2}100 %$/)
  const { text, hidden } = layOutTable([run], Object.keys(run), output(40))
  assert.equal(text.split('\n').slice(1), ['completed  100 %      2026-01-31 09:30', run.id])
  assert.equal(hidden, [], 'shown below the row')
})

test('an error that does not fit is printed in full below its row', () => {
  const error = 'The file is not a PDF: it begins with a page of HTML, as those do that ask for a login.'
  const document = { id: identifier('doc', 1), name: 'travel.pdf', type: 'application/pdf', size: 1234, status: 'failed', error }
  const read = { ...document, id: identifier('doc', 2), name: 'leave.md', status: 'indexed', error: null }
  for (const size of [40, 80, 100]) {
    const shown = lines([document, read], Object.keys(document), size)
    const [, row, ...below] = shown
    assert.match(row ?? '', 'travel.pdf')
    assert.is(
      below
        .slice(0, -1)
        .map((line) => line.trim())
        .join(' '),
      error,
    )
    assert.match(below.at(-1) ?? '', /leave\.md/)
    assert.ok(shown.every((line) => stringWidth(line) <= size))
  }
  assert.match(lines([document], Object.keys(document), 240)[0] ?? '', /ERROR$/)
})

test('empty columns are omitted silently at a terminal, but not elsewhere', () => {
  const rows = [{ id: '1', name: 'Leave', description: null, type: 'agent' }]
  const columns = ['id', 'name', 'description', 'type']
  assert.equal(layOutTable(rows, columns, output(80)), { text: 'ID  NAME   TYPE\n1   Leave  agent', hidden: [] })
  assert.match(formatTable(rows, columns, output(Number.POSITIVE_INFINITY)), 'DESCRIPTION')
})

test('an ID of another resource is hidden rather than truncated', () => {
  const row = { id: identifier('model', 1), name: 'Local Llama', model_id: 'llama3.2', endpoint: 'http://127.0.0.1:11434/v1' }
  assert.is(lines([row], Object.keys(row), 40)[1], 'Local Llama  llama3.2  http://127.0.0.1…')
  const long = { ...row, model_id: identifier('model', 2) }
  assert.is(lines([long], Object.keys(row), 40)[1], 'Local Llama')
})

test.run()
