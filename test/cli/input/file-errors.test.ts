/** Missing and unreadable files are reported the same way by every command. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createReadError, createWriteError } from '../../../src/cli/input/file-errors.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('file errors')
let terminal: Terminal
let cwd: string
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    cwd = join(terminal.home, '..', 'work')
    mkdirSync(join(cwd, 'folder'), { recursive: true })
    writeFileSync(join(cwd, 'questions.csv'), 'input\nHow many?\n')
    await terminal.json(['models', 'create', '--name', 'Recorded', '--provider', 'replay', '--model-id', 'Embedded'])
    await terminal.json(['knowledge', 'create', '--name', 'notes'])
  }),
)
test.after(reportFailure(() => terminal.close()))

const READ_COMMANDS: readonly (readonly string[])[] = [
  ['evaluations', 'create', '--file'],
  ['agents', 'create', '--file'],
  ['agents', 'update', 'Helper', '--file'],
  ['api', 'POST', '/agents', '--input'],
  ['tools', 'import'],
  ['models', 'recordings', 'import', 'Recorded'],
]

test('every command that reads a file reports a missing file and a folder in its place', async () => {
  for (const words of READ_COMMANDS) {
    const missing = await terminal.run([...words, 'cases.csv'], { cwd })
    assert.equal([missing.code, missing.stderr], [2, `Error: File not found: cases.csv.\nSearched in ${cwd}.\n`], words.join(' '))
    const folder = await terminal.run([...words, 'folder'], { cwd })
    assert.equal([folder.code, folder.stderr], [2, 'Error: folder is a folder, not a file.\n'], words.join(' '))
  }
})

test('a missing file is reported with the similar file next to it', async () => {
  const { stderr } = await terminal.run(['evaluations', 'create', '--file', 'question.csv'], { cwd })
  assert.is(stderr, 'Error: File not found: question.csv.\nDid you mean questions.csv?\n')
})

test('a missing @file is reported with the escape for text that starts with @', async () => {
  const { code, stderr } = await terminal.run(['agents', 'create', '--name', 'x', '--description', '@home'], { cwd: join(cwd, 'folder') })
  assert.is(code, 2)
  assert.match(stderr, 'File not found: home.')
  assert.match(stderr, 'If the text starts with @, write: --description @@home')
})

test('a missing document is reported like any other file', async () => {
  const { code, stderr } = await terminal.run(['knowledge', 'documents', 'add', 'notes', 'nope.md'], { cwd })
  assert.equal([code, stderr], [2, `Error: File not found: nope.md.\nSearched in ${cwd}.\n`])
})

test('an unwritable output file is reported before the command does anything', async () => {
  for (const words of [
    ['models', 'recordings', 'export', 'Recorded', '--to'],
    ['evaluations', 'run', 'whatever', '--junit'],
  ]) {
    const { code, stderr } = await terminal.run([...words, 'nowhere/out'], { cwd })
    assert.equal([code, stderr], [2, 'Error: nowhere/out cannot be written: the folder nowhere does not exist.\n'], words.join(' '))
  }
  const { code, stderr } = await terminal.run(['export', '--to', 'questions.csv'], { cwd })
  assert.is(code, 2)
  assert.match(stderr, 'questions.csv is a file, not a folder.')
})

test('missing permissions are reported without the system error text', () => {
  const refused = Object.assign(new Error("EACCES: permission denied, open 'x'"), { code: 'EACCES' })
  assert.is(createReadError('x', refused).message, 'x cannot be read: permission denied.')
  assert.is(createWriteError('x', refused).message, 'x cannot be written: permission denied.')
})

test.run()
