/** Files that somebody named: one that is missing, a folder, or closed to this user is told in a sentence, by every command alike. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createReadError, createWriteError } from '../../../src/cli/input/file-errors.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { aloud } from '../../harness/hooks.ts'

const test = suite('files that somebody named')
let terminal: Terminal
let cwd: string
test.before(
  aloud(async () => {
    terminal = openTerminal()
    cwd = join(terminal.home, '..', 'work')
    mkdirSync(join(cwd, 'folder'), { recursive: true })
    writeFileSync(join(cwd, 'questions.csv'), 'input\nHow many?\n')
    await terminal.json(['models', 'create', '--name', 'Recorded', '--provider', 'replay', '--model-id', 'Embedded'])
    await terminal.json(['knowledge', 'create', '--name', 'notes'])
  }),
)
test.after(aloud(() => terminal.close()))

const READING: readonly (readonly string[])[] = [
  ['evaluations', 'create', '--file'],
  ['agents', 'create', '--file'],
  ['agents', 'update', 'Helper', '--file'],
  ['api', 'POST', '/agents', '--input'],
  ['tools', 'import'],
  ['models', 'recordings', 'import', 'Recorded'],
]

test('a file that is missing, and a folder in its place, are told in a sentence wherever a file is read', async () => {
  for (const words of READING) {
    const missing = await terminal.run([...words, 'cases.csv'], { cwd })
    assert.equal([missing.code, missing.stderr], [2, `Error: There is no file cases.csv.\nIt was looked for in ${cwd}.\n`], words.join(' '))
    const folder = await terminal.run([...words, 'folder'], { cwd })
    assert.equal([folder.code, folder.stderr], [2, 'Error: folder is a folder, not a file.\n'], words.join(' '))
  }
})

test('the file beside it that was meant is named', async () => {
  const { stderr } = await terminal.run(['evaluations', 'create', '--file', 'question.csv'], { cwd })
  assert.is(stderr, 'Error: There is no file question.csv.\nDid you mean questions.csv?\n')
})

test('who meant a text that begins with @ is told how to write it', async () => {
  const { code, stderr } = await terminal.run(['agents', 'create', '--name', 'x', '--description', '@home'], { cwd: join(cwd, 'folder') })
  assert.is(code, 2)
  assert.match(stderr, 'There is no file home.')
  assert.match(stderr, 'For a text that begins with @, write --description @@home')
})

test('a document to send is told of like any file', async () => {
  const { code, stderr } = await terminal.run(['knowledge', 'documents', 'add', 'notes', 'nope.md'], { cwd })
  assert.equal([code, stderr], [2, `Error: There is no file nope.md.\nIt was looked for in ${cwd}.\n`])
})

test('a place that cannot be written is told in a sentence, before anything is done', async () => {
  for (const words of [
    ['models', 'recordings', 'export', 'Recorded', '--to'],
    ['evaluations', 'run', 'whatever', '--junit'],
  ]) {
    const { code, stderr } = await terminal.run([...words, 'nowhere/out'], { cwd })
    assert.equal([code, stderr], [2, 'Error: nowhere/out cannot be written: there is no folder nowhere.\n'], words.join(' '))
  }
  const { code, stderr } = await terminal.run(['export', '--to', 'questions.csv'], { cwd })
  assert.is(code, 2)
  assert.match(stderr, 'questions.csv is a file, not a folder.')
})

test('what this user may not do is told without the words of the operating system', () => {
  const refused = Object.assign(new Error("EACCES: permission denied, open 'x'"), { code: 'EACCES' })
  assert.is(createReadError('x', refused).message, 'x cannot be read: this user may not.')
  assert.is(createWriteError('x', refused).message, 'x cannot be written: this user may not.')
})

test.run()
