import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { type RecordingServer, startRecordingServer } from '../../outbound/recording-server.ts'

const test = suite('API tools at the terminal')
let terminal: Terminal
let server: RecordingServer
let file: string

const echo: RecordingServer['listener'] = (request, reply) => {
  const { method, url, headers } = request
  reply
    .writeHead(url?.startsWith('/missing') ? 404 : 200, { 'content-type': 'application/json', 'x-tea': 'green' })
    .end(JSON.stringify({ method, url, key: headers['x-key'] }))
}
const document = () => `
openapi: 3.0.3
info: {title: Pets, version: 1.0.0}
servers: [{url: '${server.origin}'}]
security: [{pet_key: []}]
components:
  securitySchemes: {pet_key: {type: apiKey, in: header, name: X-Key}}
paths:
  /pets/{kind}:
    get:
      operationId: listPets
      tags: [read]
      summary: List pets
      parameters:
        - {in: path, name: kind, required: true, schema: {type: string}}
        - {in: query, name: limit, schema: {type: integer}}
        - {in: query, name: tag, schema: {type: array, items: {type: string}}}
    post: {operationId: addPet, requestBody: {content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}}
    put: {operationId: picture, requestBody: {content: {image/png: {}}}}
`

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    server = await startRecordingServer(echo)
    file = join(terminal.home, '..', 'openapi.yaml')
    writeFileSync(file, document())
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    await server.close()
  }),
)
const ok = async (words: string[], options?: Parameters<Terminal['run']>[1]) => {
  const ran = await terminal.run(words, options)
  assert.is(ran.code, 0, `${words.join(' ')}: ${ran.stderr}`)
  return ran
}

test('tools import and tools test reject invalid flags before starting a daemon', async () => {
  for (const [words, message] of [
    [['tools', 'import', './nothing.yaml'], 'File not found: ./nothing.yaml.'],
    [['tools', 'import', file, '--bearer', 'env:NO_SUCH_VARIABLE'], 'the environment variable NO_SUCH_VARIABLE is not set'],
    [['tools', 'import', file, '--basic', 'me'], '--basic me needs a password'],
    [['tools', 'import', file, '--credential', 'pet_key'], '--credential pet_key has no value'],
    [['tools', 'import', '-', '--bearer', '-'], 'both read stdin'],
    [['tools', 'test', 'weather', '--argument', 'city'], '--argument city has no value'],
    [['tools', 'test', 'weather', '--arguments', '[1]'], '--arguments must be a JSON object'],
  ] as [string[], string][]) {
    const ran = await terminal.run(words, { input: 'x' })
    assert.is(ran.code, 2, words.join(' '))
    assert.match(ran.stderr, message)
  }
  assert.not.match((await terminal.run(['daemon', 'status'])).stdout, 'http://')
})

test('import --dry-run shows the tools without creating them', async () => {
  const { stdout, stderr } = await ok(['tools', 'import', file, '--dry-run'])
  assert.match(stdout, /create +listPets +GET/)
  assert.match(stdout, /create +addPet +POST/)
  assert.match(stderr, 'Pets: would create 2, skipped 1.')
  assert.match(stderr, 'PUT /pets/{kind}: It takes image/png')
  assert.match(stderr, 'listPets, addPet: It is called without the required credentials: pet_key (api_key).')
  assert.equal(await terminal.json(['tools', 'list']), [])
})

test('import reads an API key from the environment and never prints it', async () => {
  const { stdout, stderr } = await ok(
    ['tools', 'import', file, '--allow-private-network', '--api-key', 'env:PET_KEY', '--only', 'tag:read'],
    {
      environment: { PET_KEY: 'canary-pet-key' },
    },
  )
  assert.match(stdout, /create +listPets +GET .*api_key/)
  assert.match(stderr, 'Pets: created 1.')
  assert.match(stderr, 'cadre tools test listPets')
  const again = await terminal.run(['tools', 'import', file])
  assert.is(again.code, 1)
  assert.match(again.stderr, '"listPets" already exists')
  const updated = await terminal.json<{ tools: { action: string; auth: string }[] }>([
    'tools',
    'import',
    file,
    '--update',
    '--only',
    'listPets',
  ])
  assert.equal(
    updated.tools.map(({ action, auth }) => [action, auth]),
    [['keep', 'kept']],
  )
  for (const text of [stdout, stderr, again.stderr]) assert.not.match(text, 'canary')
})

test('import reads a document from stdin or a URL, and a secret from stdin', async () => {
  const piped = await terminal.json<{ tools: { name: string }[] }>(['tools', 'import', '-', '--prefix', 'v2_', '--dry-run'], {
    input: document(),
  })
  assert.equal(
    piped.tools.map(({ name }) => name),
    ['v2_listPets', 'v2_addPet'],
  )
  server.listener = (request, reply) => (request.url === '/openapi.yaml' ? reply.end(document()) : echo(request, reply))
  const closed = await terminal.run(['tools', 'import', `${server.origin}/openapi.yaml`, '--dry-run'])
  assert.is(closed.code, 1)
  assert.match(closed.stderr, 'in the private network')
  const words = [
    'tools',
    'import',
    `${server.origin}/openapi.yaml`,
    '--allow-private-network',
    '--prefix',
    'v3_',
    '--credential',
    'pet_key=-',
  ]
  const { stdout } = await ok(words, { input: 'canary-from-stdin\n' })
  assert.match(stdout, 'v3_listPets')
  await ok(['tools', 'test', 'v3_addPet', '-a', 'kind=cat', '-a', 'name=Tom'])
  assert.is(server.requests.at(-1)?.headers['x-key'], 'canary-from-stdin')
})

test('import suggests the name of a misspelt operation, and fails if no operation is supported', async () => {
  const misspelt = await terminal.run(['tools', 'import', file, '--only', 'listPts'])
  assert.is(misspelt.code, 2)
  assert.match(misspelt.stderr, 'Did you mean "listPets"?')
  const none = await terminal.run(['tools', 'import', file, '--only', 'picture'])
  assert.is(none.code, 1)
  assert.match(none.stderr, 'Pets: no tools, skipped 1.')
})

test('tools test prints the body and status, and converts arguments by the schema', async () => {
  const { stdout, stderr } = await ok([
    'tools',
    'test',
    'listPets',
    '--argument',
    'kind=42',
    '-a',
    'limit=5',
    '-a',
    'tag=a',
    '-a',
    'tag=b',
    '--headers',
  ])
  assert.equal(JSON.parse(stdout), { method: 'GET', url: '/pets/42?limit=5&tag=a&tag=b', key: '[redacted]' })
  assert.match(stderr, /200 OK in \d+ ms/)
  assert.match(stderr, 'x-tea: green')
  const json = await terminal.json<{ status: number; body: { url: string } }>([
    'tools',
    'test',
    'listPets',
    '--arguments',
    '{"kind": "a/../b", "tag": ["x"]}',
    '-a',
    'limit=1',
  ])
  assert.equal([json.status, json.body.url], [200, '/pets/a%2F..%2Fb?tag=x&limit=1'])
  const wrong = await terminal.run(['tools', 'test', 'listPets', '-a', 'kind=x', '-a', 'limit=many'])
  assert.is(wrong.code, 2)
  assert.match(wrong.stderr, '--arguments: limit must be integer, not string')
})

test('tools test succeeds with an HTTP error status, and fails if the server is unreachable', async () => {
  await terminal.json(['tools', 'create', '--name', 'missing', '--url', `${server.origin}/missing/{x}`, '--allow-private-network'])
  const missing = await ok(['tools', 'test', 'missing', '-a', 'x=1'])
  assert.match(missing.stderr, '404 Not Found')
  await terminal.json(['tools', 'create', '--name', 'nobody', '--url', 'http://127.0.0.1:9/', '--allow-private-network'])
  const nobody = await terminal.run(['tools', 'test', 'nobody'])
  assert.is(nobody.code, 1)
  assert.match(nobody.stderr, 'refused the connection')
})

test('allow and disallow set the permission of one agent or of all', async () => {
  await ok(['tools', 'create', '--name', 'adopt', '--url', `${server.origin}/adopt`, '--method', 'POST'])
  await ok(['agents', 'create', '--name', 'Keeper', '--tool', 'adopt'])
  const readPermissions = async () => {
    const agent = await terminal.json<{ allowed_tools: string[] }>(['agents', 'show', 'Keeper'])
    const tool = await terminal.json<{ requires_confirmation: boolean }>(['tools', 'show', 'adopt'])
    return [agent.allowed_tools.length, tool.requires_confirmation]
  }
  assert.match((await ok(['tools', 'allow', 'adopt', '--agent', 'Keeper'])).stderr, 'Keeper calls adopt without confirmation.')
  assert.equal(await readPermissions(), [1, true])
  assert.match((await ok(['tools', 'disallow', 'adopt', '--agent', 'Keeper'])).stderr, 'Keeper asks before it calls adopt.')
  assert.equal(await readPermissions(), [0, true])
  await ok(['tools', 'allow', 'adopt'])
  assert.equal(await readPermissions(), [0, false])
  await ok(['tools', 'disallow', 'adopt'])
  assert.equal(await readPermissions(), [0, true])
  await ok(['agents', 'update', 'Keeper', '--allowed-tools', 'adopt'])
  assert.equal(await readPermissions(), [1, true])
})

test.run()
