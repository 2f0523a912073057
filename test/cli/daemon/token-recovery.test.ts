/** Recovery from a lost token, a lost vault key and a disabled keychain. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('recovery at the terminal')
let terminal: Terminal
const place = (name: string) => join(terminal.home, name)
const read = (name: string) => readFileSync(place(name), 'utf8').trim()

const openHome = async () => {
  terminal = openTerminal()
  assert.is((await terminal.run(['daemon', 'start'])).code, 0)
}
test.before(reportFailure(openHome))
test.after(reportFailure(() => terminal.close()))

test('tokens recover refuses to work with a remote service', async () => {
  const { code, stderr } = await terminal.run(['tokens', 'recover'], { environment: { CADRE_URL: terminal.url() } })
  assert.is(code, 2)
  assert.match(stderr, 'where that daemon runs')
})

test('a lost token is reported, and tokens recover creates a new one that works', async () => {
  const old = read('token')
  assert.is((await terminal.request('POST', '/agents', { name: 'Helper' })).status, 201)
  rmSync(place('token'))
  const lost = await terminal.run(['agents', 'list'])
  assert.is(lost.code, 4)
  assert.match(lost.stderr, `The admin token is missing from ${place('token')}`)
  assert.match(lost.stderr, 'cadre tokens recover')
  assert.not.match(lost.stderr, /keychain/i)
  assert.match((await terminal.run(['doctor'])).stdout, /✗ token .*token\.[\s\S]*Fix: cadre tokens recover/)
  const before = terminal.url()
  const recovered = await terminal.run(['tokens', 'recover'])
  assert.is(recovered.code, 0, recovered.stderr)
  assert.is(terminal.url(), before, 'at the same address')
  assert.not.match(recovered.stdout + recovered.stderr, read('token'))
  assert.is.not(read('token'), old)
  const agents = await terminal.json<{ name: string }[]>(['agents', 'list'])
  assert.equal(
    agents.map(({ name }) => name),
    ['Helper'],
  )
  assert.is((await terminal.run(['agents', 'list'], { environment: { CADRE_TOKEN: old } })).code, 0, 'the old one still works')
  const admins = await terminal.json<{ name: string }[]>(['tokens', 'list', '--role', 'admin', '--sort', 'name', '--order', 'asc'])
  assert.equal(
    admins.map(({ name }) => name),
    ['admin', 'admin, recovered'],
  )
})

test('a token with characters that cannot be sent is reported as damaged, with its location', async () => {
  const token = read('token')
  writeFileSync(place('token'), `${token.slice(0, 10)}\u0000\u0007${token.slice(10)}`)
  const damaged = await terminal.run(['agents', 'list'])
  assert.is(damaged.code, 4)
  assert.match(damaged.stderr, `The token in ${place('token')} is damaged`)
  assert.match(damaged.stderr, 'cadre tokens recover')
  assert.not.match(damaged.stderr, 'Cannot connect')
  assert.match((await terminal.run(['doctor'])).stdout, /✗ token +The token in .* is damaged/)
  writeFileSync(place('token'), token)
  const given = await terminal.run(['agents', 'list'], { environment: { CADRE_TOKEN: 'a\u0007b' } })
  assert.equal([given.code, given.stderr.includes('The token in CADRE_TOKEN is damaged')], [4, true])
})

test('CADRE_TOKEN becomes the admin token, unless it already has a lesser role', async () => {
  const admins = async () => (await terminal.request('GET', '/tokens?role=admin')).data.length
  const before = await admins()
  const { token: viewer } = (await terminal.request('POST', '/tokens', { name: 'watcher', role: 'viewer' })).data
  const refused = await terminal.run(['tokens', 'recover'], { environment: { CADRE_TOKEN: viewer } })
  assert.is(refused.code, 5)
  assert.match(refused.stderr, 'with the role viewer')
  rmSync(place('token'))
  const environment = { CADRE_TOKEN: 'chosen-by-hand-0123456789' }
  const chosen = await terminal.run(['tokens', 'recover', '--json'], { environment })
  assert.equal([chosen.code, JSON.parse(chosen.stdout).recovered], [0, true], chosen.stderr)
  assert.is(read('token'), environment.CADRE_TOKEN)
  assert.is((await terminal.run(['tokens', 'recover'], { environment })).code, 0, 'again')
  assert.is(await admins(), before + 1)
})

test('a lost vault key is reported with its file', async () => {
  rmSync(place('vault.key'))
  await terminal.run(['daemon', 'restart'])
  const { stdout } = await terminal.run(['doctor'])
  assert.match(stdout, `its key is missing from ${place('vault.key')}`)
  assert.not.match(stdout, /keychain/i)
})

test('a token in a disabled keychain is reported as such', async () => {
  await terminal.close()
  await openHome()
  rmSync(place('token'))
  writeFileSync(place('vault.json'), read('vault.json').replace('"file"', '"keychain"'))
  const { code, stderr } = await terminal.run(['agents', 'list'])
  assert.is(code, 4)
  assert.match(
    stderr,
    'The admin token is in the keychain. The keychain is disabled by CADRE_KEYCHAIN=off. Unset CADRE_KEYCHAIN to use it.',
  )
  const recovered = await terminal.run(['tokens', 'recover'])
  assert.is(recovered.code, 0, recovered.stderr)
  const doctor = await terminal.run(['doctor'])
  assert.match(doctor.stdout, /✗ secrets .*its key is in the keychain, which the daemon cannot access\n.*unset CADRE_KEYCHAIN=off/)
  const created = await terminal.run([
    'models',
    'create',
    '--name',
    'x',
    '--provider',
    'openai',
    '--model-id',
    'x',
    '--api-key',
    'secret-of-mine',
  ])
  assert.is(created.code, 1)
  assert.match(
    created.stderr,
    /The vault is locked: .*CADRE_KEYCHAIN=off[\s\S]*Unset CADRE_KEYCHAIN to use it\. Then: cadre daemon restart/,
  )
})

test.run()
