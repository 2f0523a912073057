/** Errors of the service name the flags of the command instead of its fields. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('flags in errors')
let terminal: Terminal
let webhook: string[]
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    await terminal.run(['daemon', 'start'])
    await terminal.run(['agents', 'create', '--name', 'Ada'])
    webhook = ['webhooks', 'create', '--url', 'https://example.com/hook']
  }),
)
test.after(reportFailure(() => terminal.close()))

const fail = async (words: string[]) => {
  const { code, stderr } = await terminal.run(words)
  assert.is(code, 2, stderr)
  return stderr.split('\n')[0] ?? ''
}

test('fields are named by their flags', async () => {
  assert.is(await fail(['tokens', 'create', '--name', 'x', '--role', 'member']), 'Error: --user-id is required for the role member.')
  assert.match(await fail(['tokens', 'create', '--name', 'x', '--role', 'viewer', '--expires-at', 'soon']), /^Error: --expires-at must /)
  assert.match(await fail([...webhook, '--events', 'nope']), /^Error: --events must be one of /)
  const evaluation = ['evaluations', 'create', '--name', 'x', '--type', 'agent', '--target', 'Ada', '--test-cases', '[{"input":"q"}]']
  assert.match(await fail([...evaluation, '--scorers', 'nope']), /^Error: --scorers must be one of /)
  assert.match(await fail([...evaluation, '--scorers', '[{"type":"exact","threshold":7}]']), /^Error: --scorers: threshold must /)
  assert.match(await fail(['knowledge', 'create', '--name', 'x', '--path', '/tmp', '--schedule', 'nope']), /^Error: --schedule must /)
  assert.match(await fail(['memory', 'add', 'A fact.', '--agent', 'Ada', '--expires-at', 'soon']), /^Error: --expires-at must /)
})

test('fields of a file keep their names, and so do errors as JSON', async () => {
  const file = join(terminal.home, '..', 'token.yaml')
  writeFileSync(file, 'name: x\nrole: member\n')
  assert.is(await fail(['tokens', 'create', '--file', file]), 'Error: user_id: is required for the role member.')
  assert.match(await fail(['tokens', 'create', '--file', file, '--user-id', 'x', '--expires-at', 'soon']), /^Error: --expires-at must /)
  const { stderr } = await terminal.run(['tokens', 'create', '--name', 'x', '--role', 'member', '--json'])
  assert.equal(JSON.parse(stderr).details, [{ field: 'user_id', problem: 'is required for the role member' }])
})

test('a backup that cannot be written is named by its file', async () => {
  assert.is(
    await fail(['backup', '/nonexistent/x.tgz']),
    'Error: /nonexistent/x.tgz cannot be written: the directory /nonexistent does not exist.',
  )
})

test.run()
