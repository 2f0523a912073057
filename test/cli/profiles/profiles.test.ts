/** Profiles: login, precedence, tokens that stay with their service, and commands that are local only. */
import { once } from 'node:events'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('profiles')
/** A client without a daemon, and the service that it uses. */
let client: Terminal
let service: Terminal
let token: string
test.before(
  reportFailure(async () => {
    client = openTerminal()
    service = openTerminal()
    await service.run(['daemon', 'start'])
    await service.request('POST', '/agents', { name: 'Remote helper' })
    token = (await service.request('POST', '/tokens', { name: 'laptop', role: 'editor' })).data.token
  }),
)
test.after(
  reportFailure(async () => {
    await client.close()
    await service.close()
  }),
)

const readProfilesFile = () => readFileSync(join(client.home, 'profiles.json'), 'utf8')

/** Records the tokens that a server receives. It responds like a service. */
async function startRecorder() {
  const received: (string | undefined)[] = []
  const server = createServer((request, response) => {
    if (request.url !== '/api/health') received.push(request.headers.authorization)
    response.end(JSON.stringify({ status: 'healthy', version: '0.0.0', success: true, data: [], pagination: { total: 0, pages: 0 } }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, received, close: () => new Promise((done) => server.close(done)) }
}

test('login stores nothing if the service does not respond, rejects the token, or the input is invalid', async () => {
  const attempts = [
    { words: ['http://127.0.0.1:1'], input: token, code: 5, message: 'No Cadre service responds' },
    { words: [service.url()], input: 'cadre_wrong\n', code: 4, message: 'rejects the token. Nothing was stored' },
    { words: [service.url()], input: '\n', code: 2, message: 'No token was given' },
    { words: [service.url()], input: 'two words', code: 2, message: 'printable ASCII' },
    { words: ['cadre.example.com'], input: token, code: 2, message: 'not an HTTP address' },
    { words: ['http://ada:secret@127.0.0.1:1'], input: token, code: 2, message: 'user name or password' },
    { words: [service.url(), '--profile', 'local'], input: token, code: 2, message: 'cannot be the name of a profile' },
    { words: [service.url(), '--profile', '../x'], input: token, code: 2, message: 'cannot be the name of a profile' },
  ]
  for (const { words, input, code, message } of attempts) {
    const result = await client.run(['login', ...words], { input })
    assert.is(result.code, code, result.stderr)
    assert.match(result.stderr, message)
  }
  assert.throws(readProfilesFile, /ENOENT/)
})

test('before login sends a token to another machine without encryption, it warns and needs --yes', async () => {
  const recorder = await startRecorder()
  // Reaches this machine, but is not a loopback address.
  const url = recorder.url.replace('127.0.0.1', '0.0.0.0')
  try {
    const refused = await client.run(['login', url], { input: token })
    assert.is(refused.code, 2)
    assert.match(refused.stderr, /is not encrypted: others in the network can read the token\.\n[\s\S]*add --yes/)
    assert.equal(recorder.received, [])
    assert.throws(readProfilesFile, /ENOENT/)
    const { code, stderr } = await client.run(['login', url, '--profile', 'open', '--yes'], { input: token })
    assert.is(code, 0, stderr)
    assert.match(stderr, 'is not encrypted')
    assert.equal(recorder.received, [`Bearer ${token}`])
  } finally {
    await recorder.close()
    await client.run(['logout', '--profile', 'open'])
  }
})

test('login makes the profile current, hides the token, and commands use the service without a local daemon', async () => {
  const { code, stdout, stderr } = await client.run(['login', `${service.url()}/api`, '--profile', 'team'], { input: `${token}\n` })
  assert.is(code, 0, stderr)
  assert.match(stderr, `Logged in to ${service.url()}`)
  assert.not.match(stdout + stderr, token)
  assert.match(readProfilesFile(), token, 'without a keychain the token is in the file')
  assert.is(statSync(join(client.home, 'profiles.json')).mode & 0o777, 0o600)
  assert.match((await client.run(['agents', 'list'])).stdout, 'Remote helper')
  assert.is((await client.run(['daemon', 'status'])).code, 5, 'no local daemon was started')
  const listed = await client.run(['profiles', 'list', '--json'])
  assert.not.match(listed.stdout, token)
  assert.equal(JSON.parse(listed.stdout), [
    { name: 'local', url: null, token: null, current: false },
    { name: 'team', url: service.url(), token: 'file', current: true },
  ])
})

test('the profile can be chosen before or after the command, by CADRE_PROFILE, and CADRE_URL takes precedence over it', async () => {
  assert.is((await client.run(['profiles', 'use', 'local'])).code, 0)
  assert.is((await client.run(['agents', 'list', '--no-start'])).code, 5)
  assert.match((await client.run(['--profile', 'team', 'agents', 'list'])).stdout, 'Remote helper')
  assert.match((await client.run(['--json', '--profile=team', 'agents', 'list'])).stdout, '"Remote helper"')
  assert.match((await client.run(['agents', 'list', '--profile', 'team'])).stdout, 'Remote helper')
  const environment = { CADRE_PROFILE: 'team' }
  assert.match((await client.run(['agents', 'list'], { environment })).stdout, 'Remote helper')
  const elsewhere = await client.run(['agents', 'list'], { environment: { ...environment, CADRE_URL: 'http://127.0.0.1:1' } })
  assert.is(elsewhere.code, 5)
  const unknown = await client.run(['agents', 'list', '--profile', 'taem'])
  assert.is(unknown.code, 3)
  assert.match(unknown.stderr, 'Did you mean team?')
})

test('a token is never sent to another service than its own', async () => {
  const recorder = await startRecorder()
  try {
    await client.run(['profiles', 'use', 'team'])
    await client.run(['agents', 'list'], { environment: { CADRE_URL: recorder.url } })
    assert.equal(recorder.received.splice(0), [undefined], "CADRE_URL does not get the profile's token")
    await client.run(['login', recorder.url, '--profile', 'other'], { input: 'cadre_other' })
    recorder.received.length = 0
    const { stderr } = await client.run(['agents', 'list'], { environment: { CADRE_TOKEN: 'cadre_environment' } })
    assert.equal(recorder.received, ['Bearer cadre_other'], 'a profile does not get the token of the environment')
    assert.match(stderr, 'CADRE_TOKEN is ignored')
  } finally {
    await recorder.close()
    await client.run(['logout', '--profile', 'other'])
  }
})

test('each profile has its own default agent', async () => {
  const select = ['--profile', 'team']
  assert.is((await client.run(['config', 'set', 'agent', 'Remote helper', ...select])).code, 0)
  assert.is((await client.run(['config', 'get', 'agent', ...select])).stdout, 'Remote helper\n')
  assert.is((await client.run(['config', 'get', 'agent', '--profile', 'local'])).code, 3)
  assert.match((await client.run(['ask', 'Leave?', ...select])).stdout, 'no documents', 'the agent of the profile is asked')
  assert.is((await client.run(['config', 'unset', 'agent', ...select])).code, 0)
  const url = await client.run(['config', 'set', 'url', 'http://127.0.0.1:1', ...select])
  assert.is(url.code, 2)
  assert.match(url.stderr, 'cadre login URL --profile team')
})

test('files are sent to the service of a profile, even through a tunnel on this machine', async () => {
  const folder = join(client.home, '..', 'notes')
  mkdirSync(folder)
  writeFileSync(join(folder, 'leave.md'), '# Leave\n\nTwenty-five days a year.')
  const added = await client.json<{ configuration: object }>(['knowledge', 'add', folder, '--profile', 'team'])
  assert.not.match(JSON.stringify(added.configuration), folder)
})

test('commands of the local daemon reject a profile and report a selected one', async () => {
  const verbs = ['start', 'stop', 'restart', 'status', 'logs', 'run', 'install', 'uninstall']
  for (const words of [...verbs.map((verb) => ['daemon', verb]), ['uninstall', '--purge', '--yes'], ['restore', 'cadre.tar.gz']]) {
    const { code, stderr } = await client.run([...words, '--profile', 'team'])
    assert.is(code, 2, words.join(' '))
    assert.match(stderr, /cadre (daemon \w+|uninstall|restore) manages the daemon of this machine/)
  }
  const { code, stderr } = await client.run(['backup', join(client.home, 'cadre.tar.gz'), '--profile', 'team'])
  assert.is(code, 2)
  assert.match(stderr, 'Run cadre backup on that machine')
  await client.run(['profiles', 'use', 'team'])
  assert.match((await client.run(['daemon', 'status'])).stderr, 'Other commands use the profile "team"')
  assert.is((await client.run(['tokens', 'recover'])).code, 2)
  const { stdout } = await client.run(['doctor'])
  assert.match(stdout, `${service.url()} (profile team)`)
})

test('logout and profiles delete remove the profile and its token', async () => {
  const refused = await client.run(['profiles', 'delete', 'team'])
  assert.is(refused.code, 2, 'scripts need --yes')
  assert.is((await client.run(['profiles', 'delete', 'team', '--yes'])).code, 0)
  assert.not.match(readProfilesFile(), token)
  assert.is((await client.run(['profiles', 'delete', 'team', '--yes'])).code, 3)
  assert.is((await client.run(['profiles', 'delete', 'local', '--yes'])).code, 2)
  assert.is((await client.run(['logout'])).code, 2, 'no profile is selected')
  await client.run(['login', service.url()], { input: token })
  assert.match((await client.run(['logout'])).stderr, /Deleted the profile "127\.0\.0\.1-\d+"/)
  assert.not.match(readProfilesFile(), token)
})

test('a damaged file of profiles is reported', async () => {
  writeFileSync(join(client.home, 'profiles.json'), '{"profiles":')
  const { code, stderr } = await client.run(['agents', 'list'])
  assert.is(code, 1)
  assert.match(stderr, 'profiles.json')
})

test.run()
