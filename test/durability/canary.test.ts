import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DaemonProcess, startDaemon, TOKEN } from '../harness/daemon.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'

const test = suite('canary')

/** Unique values that cannot occur by chance. */
const CANARIES = {
  'api key': 'sk-canary-Aq7Xw2Lz9Rk4-api-key',
  'changed api key': 'sk-canary-Bt5Yn8Mc3Vp1-other-key',
  'tool header': 'canary-Cw9Zd4Jf6Hs2-tool-header',
  'bearer token': 'canary-Dx1Qe7Ug5Ni8-bearer-token',
  'basic user': 'canary-Ey3Wr9Ti6Ok4-basic-user',
  'basic password': 'canary-Fz5Et2Yo7Pl6-basic-password',
  'key in a query': 'canary-Ga7Ry4Ua8Qm8-query-key',
  'webhook secret': `whsec_${Buffer.from('canary-Hb9Tu6Ib1Rn0-webhook-secret').toString('base64')}`,
  'source user': 'canary-Ke6Ip3Qe7Uq6-source-user',
  'source password': 'canary-Lf8Oa5Rf9Vr8-source-password',
  'login in an address': 'canary-Mg1Ps7Sg2Ws1-login',
  'key in a refused request': 'sk-canary-Ic2Yi8Oc3So2-refused',
  'wrong token': 'cadre_canary-Jd4Uo1Pd5Tp4-wrong-token',
}

let root: string
let home: string
let daemon: DaemonProcess
const generatedSecrets: Record<string, string> = {}
const responses: string[] = []

test.before(
  reportFailure(async () => {
    root = mkdtempSync(join(tmpdir(), 'cadre-canary-'))
    home = join(root, 'home')
    daemon = await startDaemon(home, { token: TOKEN, environment: { CADRE_LOG_LEVEL: 'trace' } })
  }),
)
test.after(
  reportFailure(async () => {
    await daemon.kill()
    rmSync(root, { recursive: true, force: true })
  }),
)

/** Sends a request and keeps the response, without the field that shows a secret once. */
async function call(
  method: string,
  path: string,
  body?: unknown,
  { token = TOKEN, key, secretField }: { token?: string; key?: string; secretField?: string } = {},
): Promise<Json> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body ? { 'content-type': 'application/json' } : {}),
    ...(key ? { 'idempotency-key': key } : {}),
  }
  const response = await fetch(`${daemon.url}/api${path}`, {
    method,
    headers,
    ...(body ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
  })
  let text = await response.text()
  const result = { status: response.status, ...JSON.parse(text) }
  if (secretField && result.data?.[secretField]) text = text.replaceAll(result.data[secretField], '(shown once)')
  responses.push(`${method} ${path}: ${text} ${JSON.stringify([...response.headers])}`)
  return result
}

const encodeBase64Prefix = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -1)

/** Reads all files of the home. */
function readHomeFiles(directory = home): [string, Buffer][] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((name) => statSync(name, { throwIfNoEntry: false })?.isFile())
    .map((name) => [name.slice(home.length + 1), readFileSync(name)])
}

/** Returns the places that contain the secret as plain text, in base64 or URL-encoded. */
function findSecret(secret: string, places: [string, Buffer | string][]): string[] {
  return places
    .filter(
      ([, content]) =>
        content.includes(secret) || content.includes(encodeBase64Prefix(secret)) || content.includes(encodeURIComponent(secret)),
    )
    .map(([name]) => name)
}

test('secrets are stored through every endpoint that accepts them', async () => {
  const c = CANARIES
  const model = await call('POST', '/models', { name: 'm', provider: 'openai', model_id: 'x', api_key: c['api key'] })
  assert.is(model.status, 201)
  assert.is((await call('PUT', `/models/${model.data.id}`, { api_key: c['changed api key'] })).status, 200)
  const tool = (auth: object, headers = {}) => call('POST', '/api-tools', { name: 't', url: 'https://api.example.com/', auth, headers })
  const tools = [
    await tool({ type: 'bearer', token: c['bearer token'] }, { 'X-Key': c['tool header'] }),
    await tool({ type: 'basic', username: c['basic user'], password: c['basic password'] }),
    await tool({ type: 'api_key', name: 'key', value: c['key in a query'], in: 'query' }),
  ]
  for (const { status } of tools) assert.is(status, 201)
  const auth = { type: 'basic', username: c['source user'], password: c['source password'] }
  const source = { name: 's', type: 'git', configuration: { repository: 'https://example.invalid/s.git' }, auth }
  assert.is((await call('POST', '/knowledge-sources', source, { key: 'source' })).status, 201)
  const hook = { url: 'https://hooks.example.com/', events: ['conversation.completed'], secret: c['webhook secret'] }
  assert.is((await call('POST', '/webhooks', hook, { key: 'hook', secretField: 'secret' })).status, 201)
  const own = await call('POST', '/webhooks', { ...hook, secret: undefined }, { secretField: 'secret' })
  const token = await call('POST', '/tokens', { name: 't', role: 'editor' }, { key: 'token', secretField: 'token' })
  generatedSecrets['minted webhook secret'] = own.data.secret
  generatedSecrets['minted token'] = token.data.token
  assert.is((await call('GET', '/agents', undefined, { token: token.data.token })).status, 200)
})

test('error responses contain no secrets', async () => {
  const c = CANARIES
  const refused = c['key in a refused request']
  const wrong: [string, string, unknown][] = [
    ['POST', '/models', { name: 'm', provider: 'nonsense', model_id: 'x', api_key: refused }],
    ['POST', '/models', { name: '', provider: 'openai', model_id: 'x', api_key: refused }],
    ['POST', '/models', { name: 'm', provider: 'openai', model_id: 'x', api_key: `${refused} with a space` }],
    ['POST', '/models', { name: 'm', provider: 'openai', model_id: 'x', api_key: [refused] }],
    ['POST', '/models', `{"name":"m","api_key":"${refused}",}`],
    ['POST', '/api-tools', { name: 't', url: 'https://x.example/', headers: { Host: refused } }],
    ['POST', '/api-tools', { name: 't', url: 'https://x.example/', auth: { type: 'bearer', tokn: refused } }],
    ['POST', '/webhooks', { url: 'https://x.example/', events: ['conversation.completed'], secret: refused }],
    ...['git', 'https'].flatMap((scheme): [string, string, unknown][] => {
      const address = `${scheme}://ada:${c['login in an address']}@example.com/`
      return [
        ['POST', '/knowledge-sources', { name: 's', type: 'git', configuration: { repository: address } }],
        ['POST', '/knowledge-sources', { name: 's', type: 'url', configuration: { url: address } }],
        ['POST', '/models', { name: 'm', provider: 'openai', model_id: 'x', endpoint: address }],
        ['POST', '/api-tools', { name: 't', url: address }],
        ['POST', '/api-tools/import', { url: address }],
        ['POST', '/webhooks', { url: address, events: ['conversation.completed'] }],
      ]
    }),
    ['PUT', '/models/nobody', { api_key: refused }],
  ]
  for (const [method, path, body] of wrong) assert.ok((await call(method, path, body)).status >= 400, path)
  assert.is((await call('GET', '/agents', undefined, { token: c['wrong token'] })).status, 401)
  for (const path of ['/models', '/api-tools', '/webhooks', '/tokens', '/status', '/settings'])
    assert.is((await call('GET', path)).status, 200)
})

test('no response contains a secret', () => {
  const places = responses.map((text): [string, string] => [text.slice(0, 60), text])
  assert.ok(places.length > 20)
  for (const [name, secret] of Object.entries({ ...CANARIES, ...generatedSecrets, 'admin token': TOKEN }))
    assert.equal(findSecret(secret, places), [], name)
})

test('no file contains a secret while the daemon runs, after a kill and after a stop', async () => {
  const checkFiles = () => {
    const all = readHomeFiles()
    assert.ok(all.some(([name]) => name === 'cadre.db') && all.some(([name]) => name === 'logs/daemon.log'))
    for (const [name, secret] of Object.entries({ ...CANARIES, ...generatedSecrets })) assert.equal(findSecret(secret, all), [], name)
    // Without a keychain the admin token is stored in a file.
    assert.equal(findSecret(TOKEN, all), ['token'])
  }
  checkFiles()
  await daemon.kill()
  checkFiles()
  daemon = await startDaemon(home, { token: TOKEN, environment: { CADRE_LOG_LEVEL: 'trace' } })
  await daemon.stop()
  checkFiles()
})

test('the search finds a secret that is there', () => {
  assert.equal(
    findSecret('a secret of some length', [
      ['plain', Buffer.from('x a secret of some length y')],
      ['encoded', `x ${Buffer.from('a secret of some length').toString('base64')}`],
      ['none', 'x'],
    ]),
    ['plain', 'encoded'],
  )
})

test.run()
