/** `cadre uninstall` with a real daemon and its own home. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('cadre uninstall')
let terminal: Terminal

test.before(() => {
  terminal = openTerminal()
})
test.after(reportFailure(() => terminal.close()))

const runOk = async (...words: string[]) => {
  const ran = await terminal.run(words)
  assert.is(ran.code, 0, ran.stderr)
  return ran
}

test('uninstall stops the daemon, deletes its service and says what remains', async () => {
  const configuration = join(terminal.home, '..', 'configuration')
  const environment = { XDG_CONFIG_HOME: configuration }
  await runOk('daemon', 'start')
  await terminal.run(['daemon', 'install'], { environment })
  const unit = join(configuration, 'systemd', 'user', 'cadre.service')
  assert.is(existsSync(unit), process.platform === 'linux')
  const { code, stderr } = await terminal.run(['uninstall'], { environment })
  assert.is(code, 0, stderr)
  assert.match(stderr, 'Stopped the Cadre daemon.')
  assert.match(stderr, /your data: .* \(to delete it: cadre uninstall --purge\)/)
  assert.match(stderr, 'npm uninstall -g cadre')
  assert.not(existsSync(unit))
  assert.ok(existsSync(join(terminal.home, 'cadre.db')))
  assert.match((await runOk('uninstall')).stderr, 'The Cadre daemon is not running.')
})

test('--purge asks, and then deletes what Cadre created and nothing else', async () => {
  writeFileSync(join(terminal.home, 'notes.txt'), 'mine')
  const asked = await terminal.run(['uninstall', '--purge'])
  assert.is(asked.code, 2)
  assert.match(asked.stderr, /holds .*: agents, documents, conversations and secrets\.[\s\S]*--yes/)
  assert.ok(existsSync(join(terminal.home, 'cadre.db')))
  const { stderr } = await runOk('uninstall', '--purge', '--yes')
  assert.match(stderr, "files that are not Cadre's: notes.txt")
  assert.equal(readdirSync(terminal.home), ['notes.txt'])
})

test('--purge refuses a folder that no daemon has used', async () => {
  mkdirSync(join(terminal.home, 'documents'))
  const { code, stderr } = await terminal.run(['uninstall', '--purge', '--yes'])
  assert.is(code, 2)
  assert.match(stderr, 'may be a folder of another program')
  assert.equal(readdirSync(terminal.home).sort(), ['documents', 'notes.txt'])
})

test.run()
