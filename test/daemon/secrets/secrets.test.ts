import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readAdminToken, storeAdminToken } from '../../../daemon/secrets/admin-token.ts'
import { Redactor } from '../../../daemon/secrets/redactor.ts'
import { type Keychain, openVault, type Vault } from '../../../daemon/secrets/vault.ts'
import { homePaths, type Paths } from '../../../src/config.ts'
import { CadreError } from '../../../src/contract/errors.ts'

const test = suite<{ paths: Paths; redactor: Redactor }>('secrets')

test.before.each((context) => {
  context.paths = homePaths({ CADRE_HOME: mkdtempSync(join(tmpdir(), 'cadre-secrets-')) })
  context.redactor = new Redactor()
})
test.after.each(({ paths }) => rmSync(paths.home, { recursive: true, force: true }))

const rejectAccess = async (): Promise<never> => {
  throw new Error('no keychain here')
}
const NO_KEYCHAIN: Keychain = { read: rejectAccess, write: rejectAccess }

function createKeychain(entries = new Map<string, string>()): Keychain & { entries: Map<string, string> } {
  return {
    entries,
    read: async (name) => entries.get(name),
    write: async (name, value) => {
      entries.set(name, value)
    },
  }
}

function catchError(act: () => unknown): CadreError {
  try {
    act()
  } catch (error) {
    assert.instance(error, CadreError)
    return error as CadreError
  }
  throw new Error('nothing was thrown')
}

function assertLocked(vault: Vault, why: string): void {
  assert.is(vault.location, 'locked')
  for (const error of [catchError(() => vault.seal('plain text', 'x')), catchError(() => vault.open('v1.AAAA', 'x'))]) {
    assert.is(error.code, 'UNAVAILABLE')
    assert.match(error.message, why)
    assert.ok(error.hint)
  }
}

test('without a keychain the key is a private file, and sealed secrets open after a restart', async ({ paths, redactor }) => {
  const first = await openVault({ paths, keychain: NO_KEYCHAIN, redactor })
  assert.is(first.location, 'file')
  assert.equal(readdirSync(paths.home).sort(), ['vault.json', 'vault.key'])
  for (const file of [paths.vault, paths.vaultKey]) assert.is(statSync(file).mode & 0o777, 0o600)
  const plain = 'sk-ключ 🔑 with "quotes"'
  const sealed = first.seal(plain, 'model_1/api_key')
  assert.match(sealed, /^v1\.[\w-]+$/)
  const second = await openVault({ paths, keychain: NO_KEYCHAIN, redactor: new Redactor() })
  assert.is(second.open(sealed, 'model_1/api_key'), plain)
})

test('empty and long secrets survive sealing, and sealing twice gives different results', async ({ paths, redactor }) => {
  const vault = await openVault({ paths, keychain: NO_KEYCHAIN, redactor })
  for (const plain of ['', 'k'.repeat(10_000)]) {
    const [one, other] = [vault.seal(plain, 'x'), vault.seal(plain, 'x')]
    assert.is.not(one, other)
    assert.is(vault.open(one, 'x'), plain)
    assert.is(vault.open(other, 'x'), plain)
  }
})

test('a modified, truncated or foreign sealed secret does not open', async ({ paths, redactor }) => {
  const vault = await openVault({ paths, keychain: NO_KEYCHAIN, redactor })
  const sealed = vault.seal('sk-secret-value', 'model_1/api_key')
  const bytes = Buffer.from(sealed.slice(3), 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.is(catchError(() => vault.open(`v1.${changed.toString('base64url')}`, 'model_1/api_key')).code, 'INTERNAL', `byte ${at}`)
  }
  const spoiled = [sealed.slice(0, -8), 'v1.', 'v1', '', 'v2.AAAA', `${sealed}.x`, 'sk-secret-value']
  for (const text of spoiled) {
    const error = catchError(() => vault.open(text, 'model_1/api_key'))
    assert.match(error.message, 'model_1/api_key')
    assert.not.match(error.message, 'sk-secret')
  }
  catchError(() => vault.open(sealed, 'model_2/api_key'))
})

test('with a keychain the key is stored there and not in the home', async ({ paths, redactor }) => {
  const keychain = createKeychain()
  const vault = await openVault({ paths, keychain, redactor })
  assert.is(vault.location, 'keychain')
  assert.equal(readdirSync(paths.home), ['vault.json'])
  const key = keychain.entries.get('vault-key') ?? ''
  assert.is(Buffer.from(key, 'base64').length, 32)
  assert.not.match(readFileSync(paths.vault, 'utf8'), key)
  const sealed = vault.seal('sk-secret', 'x')
  assert.is((await openVault({ paths, keychain, redactor })).open(sealed, 'x'), 'sk-secret')
})

test('an unreachable keychain locks the vault and is never replaced by a file', async ({ paths, redactor }) => {
  const keychain = createKeychain()
  const sealed = (await openVault({ paths, keychain, redactor })).seal('sk-secret', 'x')
  assertLocked(await openVault({ paths, keychain: NO_KEYCHAIN, redactor }), 'no keychain here')
  assert.equal(readdirSync(paths.home), ['vault.json'])
  assert.is((await openVault({ paths, keychain, redactor })).open(sealed, 'x'), 'sk-secret')
})

test('a missing, corrupt or different key locks the vault with an explanation', async ({ paths, redactor }) => {
  const keychain = createKeychain()
  await openVault({ paths, keychain, redactor })
  assertLocked(await openVault({ paths, keychain: createKeychain(), redactor }), 'missing from the keychain')
  assertLocked(
    await openVault({ paths, keychain: createKeychain(new Map([['vault-key', Buffer.alloc(32).toString('base64')]])), redactor }),
    'does not belong',
  )
  rmSync(paths.vault)
  await openVault({ paths, keychain: NO_KEYCHAIN, redactor })
  const key = readFileSync(paths.vaultKey)
  writeFileSync(paths.vaultKey, 'rubbish')
  assertLocked(await openVault({ paths, keychain: NO_KEYCHAIN, redactor }), 'does not contain a valid key')
  rmSync(paths.vaultKey)
  assertLocked(await openVault({ paths, keychain: NO_KEYCHAIN, redactor }), 'missing from')
  assert.not(readdirSync(paths.home).includes('vault.key'))
  writeFileSync(paths.vaultKey, key)
  assert.is((await openVault({ paths, keychain: NO_KEYCHAIN, redactor })).location, 'file')
})

test('a key left by an interrupted first start is reused', async ({ paths, redactor }) => {
  const keychain = createKeychain()
  for (const [chain, location] of [
    [keychain, 'keychain'],
    [NO_KEYCHAIN, 'file'],
    [keychain, 'file'],
  ] as const) {
    const sealed = (await openVault({ paths, keychain: chain, redactor })).seal('sk-secret', 'x')
    rmSync(paths.vault)
    const again = await openVault({ paths, keychain: chain, redactor })
    assert.is(again.location, location)
    assert.is(again.open(sealed, 'x'), 'sk-secret')
    rmSync(paths.vault)
  }
})

test('an unreadable vault.json stops the start instead of creating a new key', async ({ paths, redactor }) => {
  await openVault({ paths, keychain: NO_KEYCHAIN, redactor })
  for (const text of ['', '{', '{}', 'null', '{"location":"moon","fingerprint":"x"}']) {
    writeFileSync(paths.vault, text)
    const error = await openVault({ paths, keychain: NO_KEYCHAIN, redactor }).catch((reason: unknown) => reason)
    assert.instance(error, CadreError, JSON.stringify(text))
    assert.match((error as CadreError).message, 'Cannot read')
  }
})

test('sealed and opened secrets and the key itself are redacted from then on', async ({ paths, redactor }) => {
  const vault = await openVault({ paths, keychain: NO_KEYCHAIN, redactor })
  assert.is(redactor.redact('the sk-sealed-1'), 'the sk-sealed-1')
  const sealed = vault.seal('sk-sealed-1', 'x')
  assert.is(redactor.redact('the sk-sealed-1'), 'the [redacted]')
  const later = new Redactor()
  ;(await openVault({ paths, keychain: NO_KEYCHAIN, redactor: later })).open(sealed, 'x')
  assert.is(later.redact('the sk-sealed-1'), 'the [redacted]')
  assert.is(later.redact(readFileSync(paths.vaultKey, 'utf8').trim()), '[redacted]')
})

test("the first token is stored next to the vault's key: in the keychain or in a private file", async ({ paths, redactor }) => {
  const vault = await openVault({ paths, keychain: NO_KEYCHAIN, redactor })
  await storeAdminToken('first', { paths, keychain: NO_KEYCHAIN, vault })
  assert.is(readFileSync(paths.token, 'utf8'), 'first\n')
  assert.is(statSync(paths.token).mode & 0o777, 0o600)
  const keychain = createKeychain()
  await storeAdminToken('second', { paths, keychain, vault: { ...vault, location: 'keychain' } })
  assert.is(keychain.entries.get('admin-token'), 'second')
  assert.not(readdirSync(paths.home).includes('token'))
  assert.is(await readAdminToken({ paths, keychain, vault: { ...vault, location: 'keychain' } }), 'second')
  assert.is(await readAdminToken({ paths, keychain, vault: { ...vault, location: 'locked' } }), undefined)
  await storeAdminToken('third', { paths, keychain: NO_KEYCHAIN, vault: { ...vault, location: 'keychain' } })
  assert.is(readFileSync(paths.token, 'utf8'), 'third\n')
})

test('a secret is redacted in every encoding', ({ redactor }) => {
  const secret = 'pa$$ w/"ö\\rd+&=?'
  redactor.add(secret)
  const json = (text: string) => JSON.stringify(text).slice(1, -1)
  const spellings = [
    secret,
    json(secret),
    json(json(secret)),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase()),
    encodeURI(secret),
    new URLSearchParams({ secret }).toString().slice(7),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('hex').toUpperCase(),
    secret.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  ]
  for (const spelling of spellings) assert.is(redactor.redact(`<${spelling}>`), '<[redacted]>', spelling)
})

test('the beginning of a secret is removed from the end of a text that was cut off', ({ redactor }) => {
  const secret = 'Sk-İ/abcdef'
  redactor.add(secret)
  const hex = Buffer.from(secret).toString('hex')
  for (const spelling of [secret, hex, hex.toUpperCase()])
    for (let length = 1; length < secret.length; length++) {
      const cut = `the ${spelling.slice(0, length)}`
      assert.is(redactor.redactTruncated(cut), 'the ', cut)
    }
  assert.is(redactor.redactTruncated(`the ${secret}`), 'the [redacted]')
  assert.is(redactor.redactTruncated('abcdef'), 'abcdef')
})

test('a secret is redacted within base64 text', ({ redactor }) => {
  const secret = 'a-rather-long/secret?value'
  redactor.add(secret)
  for (const before of ['', 'u', 'us', 'use', 'user:'])
    for (const after of ['', '1', '12', '123'])
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(before + secret + after).toString(encoding)
        const clean = redactor.redact(text)
        assert.match(clean, '[redacted]', `${before}|${after}|${encoding}`)
        assert.ok(clean.replace('[redacted]', '').length <= 4 + Math.ceil(((before.length + after.length) * 4) / 3), clean)
      }
})

test('several secrets are redacted from one text, longest first', ({ redactor }) => {
  for (const secret of ['abcdef', 'abcdefghi', 'uvwxyz']) redactor.add(secret)
  assert.is(redactor.redact('abcdefghi abcdef uvwxyzuvwxyz abcde'), '[redacted] [redacted] [redacted][redacted] abcde')
  redactor.remove('abcdef')
  assert.is(redactor.redact('abcdef abcdefghi'), 'abcdef [redacted]')
})

test('values that are too short are not redacted', ({ redactor }) => {
  for (const short of ['', 'a', 'the', 'agent']) redactor.add(short)
  assert.is(redactor.redact('the agent'), 'the agent')
})

test('an Authorization header is redacted whatever its value', ({ redactor }) => {
  const lines = [
    'Authorization: Bearer abc',
    'authorization=Basic dXNlcjpwYXNz',
    '{"authorization":"Bearer abc.def"}',
    String.raw`{"m":"{\"Authorization\":\"Bearer abc\"}"}`,
    'failed with Bearer abcdefghijklmnopqrstuvwxyz',
  ]
  for (const line of lines) {
    const clean = redactor.redact(line)
    assert.not.match(clean, /abc|dXNl/, clean)
    assert.match(clean, '[redacted]')
  }
  assert.is(redactor.redact('Bearer tokens are needed'), 'Bearer tokens are needed')
})

test("the redactor's memory is bounded and keeps the newest secrets", ({ redactor }) => {
  const secret = (n: number) => `${n}-`.padEnd(20_000, `${n}`)
  for (let n = 100; n < 500; n++) redactor.add(secret(n))
  assert.is(redactor.redact(secret(499)), '[redacted]')
  assert.is(redactor.redact(secret(100)), secret(100))
})

test('daemons with the same shared key open the secrets of each other, and another key is refused', async ({ paths, redactor }) => {
  const sharedKey = Buffer.alloc(32, 1).toString('base64')
  const open = (key: string, at = homePaths({ CADRE_HOME: mkdtempSync(join(tmpdir(), 'cadre-shared-')) })) =>
    openVault({ paths: at, keychain: NO_KEYCHAIN, redactor, sharedKey: key })
  const [first, second] = [await open(sharedKey), await open(sharedKey)]
  assert.equal([first.location, first.fingerprint], ['environment', second.fingerprint])
  assert.is(second.open(first.seal('sk-secret', 'x'), 'x'), 'sk-secret')
  assert.is.not((await open(Buffer.alloc(32, 2).toString('base64'))).fingerprint, first.fingerprint)
  const expectRefusal = async (key: string, at?: Paths) => {
    try {
      await open(key, at)
    } catch (error) {
      return (error as Error).message
    }
    throw new Error('the key must be refused')
  }
  assert.match(await expectRefusal('short'), 'must be 32 random bytes')
  await openVault({ paths, keychain: NO_KEYCHAIN, redactor }) // the home has its own key now
  assert.match(await expectRefusal(sharedKey, paths), 'is not the key of this home')
})

test.run()
