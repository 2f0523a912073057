/** The input history on disk. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HistoryFile } from '../../../src/tui/input/history-file.ts'

const test = suite('history file')
const folder = mkdtempSync(join(tmpdir(), 'cadre-history-'))
test.after(() => rmSync(folder, { recursive: true }))
let count = 0
const createPath = () => join(folder, `history-${count++}`)

test('texts of several lines are stored with mode 0600, each once, in the order of their last use', () => {
  const path = createPath()
  const history = new HistoryFile(path)
  assert.equal(history.read(), [])
  for (const text of ['one', 'two\nlines', 'one', 'three']) history.append(text)
  assert.equal(new HistoryFile(path).read(), ['two\nlines', 'one', 'three'])
  assert.is(statSync(path).mode & 0o777, 0o600)
})

test('lines that cannot be read and long texts are skipped', () => {
  const path = createPath()
  const history = new HistoryFile(path)
  history.append('first')
  appendFileSync(path, 'not JSON\n42\n""\n"cut o')
  appendFileSync(path, '\n')
  history.append('x'.repeat(20_000))
  history.append('last')
  assert.equal(history.read(), ['first', 'last'])
})

test('commands that quit are neither stored nor read from files of earlier versions', () => {
  const path = createPath()
  const history = new HistoryFile(path)
  history.append('How do I quit?')
  for (const text of ['/quit', '/exit', '/q', 'quit', 'Exit ', ':q']) history.append(text)
  assert.is(readFileSync(path, 'utf8'), '"How do I quit?"\n')
  appendFileSync(path, '"/quit"\n')
  assert.equal(history.read(), ['How do I quit?'])
})

test('the file is bounded and the newest 1,000 texts are kept', () => {
  const path = createPath()
  const history = new HistoryFile(path)
  for (let index = 0; index < 3_000; index++) history.append(`${index} ${'x'.repeat(500)}`)
  const size = statSync(path).size + statSync(`${path}.1`).size
  assert.ok(size < 600_000, `${size} bytes`)
  const entries = history.read()
  assert.match(entries.at(-1) ?? '', /^2999 /)
  assert.ok(entries.length >= 500 && entries.length <= 1_000, `${entries.length} entries`)
  for (const [index, entry] of entries.entries()) assert.ok(entry.startsWith(`${3_000 - entries.length + index} `), 'without gaps')
  assert.is(statSync(`${path}.1`).mode & 0o777, 0o600)
})

test('a lock that a killed process left is removed', () => {
  const path = createPath()
  const history = new HistoryFile(path)
  const big = 'x'.repeat(9_000)
  for (let index = 0; index < 30; index++) history.append(`${index}${big}`)
  writeFileSync(`${path}.lock`, '')
  utimesSync(`${path}.lock`, 0, 0)
  for (let index = 0; index < 3; index++) history.append(`more ${index}`)
  assert.ok(statSync(path).size < 100_000, 'the file was renamed')
})

test('chats that append at the same time lose nothing', async () => {
  const path = createPath()
  const script = join(folder, 'append.mjs')
  const line = (who: string, index: number) => `${who} ${index} ${'y'.repeat(200)}`
  // Appends as the chat does: one write per text.
  writeFileSync(
    script,
    `import { appendFileSync } from 'node:fs'
const [, , path, who] = process.argv
for (let index = 0; index < 300; index++) appendFileSync(path, JSON.stringify(who + ' ' + index + ' ' + 'y'.repeat(200)) + '\\n')`,
  )
  const children = ['a', 'b'].map((who) => fork(script, [path, who]))
  const history = new HistoryFile(path)
  for (let index = 0; index < 300; index++) history.append(line('c', index))
  await Promise.all(children.map((child) => once(child, 'exit')))
  const stored = new Set(
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each) as string),
  )
  for (const who of ['a', 'b', 'c']) for (let index = 0; index < 300; index++) assert.ok(stored.has(line(who, index)), `${who} ${index}`)
})

test.run()
