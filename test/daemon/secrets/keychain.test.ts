import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { deleteProfile, readProfileToken, storeProfile } from '../../../src/client/profiles.ts'
import { homePaths } from '../../../src/config.ts'
import {
  ADMIN_TOKEN,
  deleteKeychain,
  isKeychainAvailable,
  KeychainError,
  readKeychain,
  VAULT_KEY,
  writeKeychain,
} from '../../../src/keychain.ts'
import { withTimeoutFactor } from '../../harness/clocks/timeout-factor.ts'
import { startDaemon } from '../../harness/daemon.ts'

const test = suite<{ root: string; home: string; sessions: ChildProcess[] }>('keychain')

const hasKeyring = ['dbus-run-session', 'gnome-keyring-daemon', 'dbus-send'].every(
  (program) => spawnSync(program, ['--version']).error === undefined,
)
const withKeyring = hasKeyring ? test : test.skip

/** Runs a keyring in its own D-Bus session, prints the address of the bus and the keyring's process ID, and ends when its stdin ends. */
const SESSION_SCRIPT = `
printf %s "$1" | gnome-keyring-daemon $2 --components=secrets >/dev/null 2>&1
find_keyring() {
  dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus / \\
    org.freedesktop.DBus.GetConnectionUnixProcessID string:org.freedesktop.secrets 2>/dev/null
}
for _ in $(seq 1500); do pid=$(find_keyring) && break; sleep 0.02; done
[ -n "$pid" ] || exit 1
pid=\${pid##* }
echo "$DBUS_SESSION_BUS_ADDRESS $pid"
read -r _
kill -CONT "$pid"
kill "$pid"
`
const NO_BUS = 'unix:path=/nonexistent/bus'

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-keychain-'))
  context.home = join(context.root, 'home')
  context.sessions = []
  mkdirSync(context.home)
  delete process.env.CADRE_KEYCHAIN
  process.env.DBUS_SESSION_BUS_ADDRESS = NO_BUS
})
test.after.each(async ({ root, sessions }) => {
  for (const session of sessions) {
    session.stdin?.end('done\n')
    if (session.exitCode === null) await once(session, 'exit')
  }
  rmSync(root, { recursive: true, force: true })
})

/** Starts a keyring, uses it as the keychain of this process and returns its process ID. */
async function startKeyring(root: string, sessions: ChildProcess[], start = '--unlock'): Promise<number> {
  const runtime = join(root, 'runtime')
  mkdirSync(runtime, { mode: 0o700 })
  const child = spawn('dbus-run-session', ['--', 'bash', '-c', SESSION_SCRIPT, 'session', 'password', start], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH, HOME: root, XDG_RUNTIME_DIR: runtime, XDG_DATA_HOME: join(root, 'data') },
  })
  sessions.push(child)
  const exit = once(child, 'exit').then(() => Promise.reject(new Error('the keyring did not start')))
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exit])) as [string]
  const [address = '', pid] = line.split(' ')
  process.env.DBUS_SESSION_BUS_ADDRESS = address
  return Number(pid)
}

async function catchError(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.instance(error, KeychainError)
  return error as Error
}

test('a keychain that does not answer is reported without hanging', async ({ home }) => {
  assert.is(await isKeychainAvailable(home), false)
  await catchError(readKeychain(home, ADMIN_TOKEN))
  await catchError(writeKeychain(home, ADMIN_TOKEN, 'value'))
})

test('CADRE_KEYCHAIN=off disables the keychain', async ({ home }) => {
  process.env.CADRE_KEYCHAIN = 'off'
  assert.is(await isKeychainAvailable(home), false)
  assert.match((await catchError(readKeychain(home, ADMIN_TOKEN))).message, 'CADRE_KEYCHAIN=off')
})

test('without a keychain the daemon stores its key and token in files', async ({ home }) => {
  const daemon = await startDaemon(home, { environment: { DBUS_SESSION_BUS_ADDRESS: NO_BUS, CADRE_KEYCHAIN: 'on' } })
  const paths = homePaths({ CADRE_HOME: home })
  assert.is((await daemon.get('/api/status', readFileSync(paths.token, 'utf8').trim())).body.data.secrets, 'file')
  assert.ok(existsSync(paths.vaultKey))
  await daemon.stop()
})

withKeyring('keychain entries can be written, read and deleted, separately for each home', async ({ root, home, sessions }) => {
  await startKeyring(root, sessions)
  assert.is(await isKeychainAvailable(home), true)
  assert.is(await readKeychain(home, ADMIN_TOKEN), undefined)
  const value = 'a "value" with ключ 🔑\nand a second line'
  await writeKeychain(home, ADMIN_TOKEN, value)
  assert.is(await readKeychain(home, ADMIN_TOKEN), value)
  assert.is(await readKeychain(home, VAULT_KEY), undefined)
  assert.is(await readKeychain(join(root, 'another'), ADMIN_TOKEN), undefined)
  symlinkSync(home, join(root, 'link'))
  assert.is(await readKeychain(join(root, 'link'), ADMIN_TOKEN), value)
  await writeKeychain(home, ADMIN_TOKEN, 'newer')
  assert.is(await readKeychain(home, ADMIN_TOKEN), 'newer')
  assert.is(await deleteKeychain(home, ADMIN_TOKEN), true)
  assert.is(await deleteKeychain(home, ADMIN_TOKEN), false)
  assert.is(await readKeychain(home, ADMIN_TOKEN), undefined)
})

withKeyring(
  "the vault's key and the admin token are stored in the keychain and in no file, also after a restart",
  async ({ root, home, sessions }) => {
    await startKeyring(root, sessions)
    const paths = homePaths({ CADRE_HOME: home })
    const environment = { DBUS_SESSION_BUS_ADDRESS: process.env.DBUS_SESSION_BUS_ADDRESS, CADRE_KEYCHAIN: 'on' }
    let key: string | undefined
    for (let start = 0; start < 2; start++) {
      const daemon = await startDaemon(home, { environment })
      const token = await readKeychain(home, ADMIN_TOKEN)
      assert.ok(token)
      const status = await daemon.get('/api/status', token)
      assert.is(status.body.data?.secrets, 'keychain', JSON.stringify(status))
      key ??= await readKeychain(home, VAULT_KEY)
      assert.is(Buffer.from(key ?? '', 'base64').length, 32)
      assert.is(await readKeychain(home, VAULT_KEY), key)
      for (const file of [paths.token, paths.vaultKey]) assert.not(existsSync(file), file)
      await daemon.stop()
    }
  },
)

withKeyring('a keychain that stops answering locks the vault, and the daemon still starts', async ({ root, home, sessions }) => {
  const keyring = await startKeyring(root, sessions)
  const environment = { DBUS_SESSION_BUS_ADDRESS: process.env.DBUS_SESSION_BUS_ADDRESS, CADRE_KEYCHAIN: 'on' }
  await (await startDaemon(home, { environment })).stop()
  const token = (await readKeychain(home, ADMIN_TOKEN)) ?? ''
  process.kill(keyring, 'SIGSTOP')
  assert.match((await withTimeoutFactor(0.5, () => catchError(readKeychain(home, ADMIN_TOKEN)))).message, 'did not respond')
  const daemon = await startDaemon(home, { environment: { ...environment, CADRE_TIMEOUT_FACTOR: '0.5' } })
  assert.is((await daemon.get('/api/status', token)).body.data?.secrets, 'locked')
  const refused = await daemon.post(
    '/api/models',
    {
      name: 'Locked',
      provider: 'openai',
      model_id: 'gpt',
      api_key: 'sk-locked-out-0123456789',
    },
    token,
  )
  assert.is(refused.status, 503, JSON.stringify(refused))
  assert.is(refused.body.code, 'UNAVAILABLE')
  await daemon.stop()
})

withKeyring('the token of a profile is in the keychain only, and bound to its URL', async ({ root, home, sessions }) => {
  await startKeyring(root, sessions)
  const paths = homePaths({ CADRE_HOME: home })
  assert.is(await storeProfile(paths, 'team', 'https://cadre.example.com', 'cadre_secret'), 'keychain')
  assert.not.match(readFileSync(paths.profiles, 'utf8'), 'cadre_secret')
  assert.is(await readProfileToken(paths, 'team'), 'cadre_secret')
  writeFileSync(paths.profiles, readFileSync(paths.profiles, 'utf8').replace('cadre.example.com', 'evil.example.com'))
  const moved = await readProfileToken(paths, 'team').catch((error: Error) => error.message)
  assert.match(moved, 'belongs to another URL')
  await deleteProfile(paths, 'team', assert.unreachable)
  assert.is(await readKeychain(home, 'profile-team'), undefined)
})

withKeyring('a locked keyring is treated as missing', async ({ root, home, sessions }) => {
  await startKeyring(root, sessions, '--start')
  assert.is(await isKeychainAvailable(home), false)
})

test.run()
