/** Commands outside the families: api, config, status, doctor, help and autocomplete, and exit codes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('commands')
let terminal: Terminal
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    await terminal.run(['daemon', 'start'])
    await terminal.request('POST', '/agents', { name: 'Helper' })
  }),
)
test.after(reportFailure(() => terminal.close()))

test('api accepts paths with and without the prefix, fields, a body and headers', async () => {
  const made = await terminal.json<{ data: { id: string; temperature: number; tools: string[] } }>([
    'api',
    'post',
    'agents',
    '-f',
    'name=7',
    '-F',
    'temperature=0.5',
    '-F',
    'tools=[]',
  ])
  assert.equal([made.data.temperature, made.data.tools], [0.5, []])
  const path = `/api/agents/${made.data.id}`
  assert.is((await terminal.json<{ data: { name: string } }>(['api', path])).data.name, '7')
  const changed = await terminal.json<{ data: { name: string } }>(['api', 'PUT', path, '--input', '-'], { input: '{"name":"eight"}' })
  assert.is(changed.data.name, 'eight')
  const found = await terminal.json<{ data: unknown[] }>(
    ['api', 'GET', '/v1/agents', '-f', 'name=eight', '-F', 'limit=1'].map((word) => word.replace('/v1', '/api/v1')),
  )
  assert.is(found.data.length, 1)
  const refused = await terminal.run(['api', 'PUT', path, '-f', 'name=nine', '-H', 'If-Match: "stale"', '-i'])
  assert.match(refused.stdout, /^HTTP\/1\.1 4\d\d\n/)
  assert.is(refused.code === 0, false)
  assert.is((await terminal.run(['api', 'DELETE', path])).code, 0)
  assert.is((await terminal.run(['api', 'GET', path])).code, 3)
})

test('api --paginate prints all pages as one list', async () => {
  const many = Array.from({ length: 5 }, (_, index) => ({ name: `many ${index}`, template: 'x' }))
  await terminal.json(['prompts', 'create', '--file', '-'], { input: JSON.stringify(many) })
  const { data } = await terminal.json<{ data: unknown[] }>(['api', '/prompt-templates?limit=2', '--paginate'])
  assert.is(data.length, 5)
})

test('create suggests a next command, but not with --json', async () => {
  const { stderr } = await terminal.run(['agents', 'create', '--name', 'Next one'])
  assert.match(stderr, `Ask it a question: cadre ask 'Next one' "…"\n`)
  const hook = ['webhooks', 'create', '--url', 'https://example.com/hook', '--events', 'conversation.completed']
  assert.match((await terminal.run(hook)).stderr, /^Try it: cadre webhooks test hook_\S+$/m)
  assert.not.match((await terminal.run([...hook, '--json'])).stderr, 'Try it')
})

test('settings are stored, validated and removed, and tokens are masked', async () => {
  assert.is((await terminal.run(['config', 'set', 'output', 'yaml'])).code, 0)
  assert.is((await terminal.run(['config', 'get', 'output', '--output', 'table'])).stdout, 'yaml\n')
  assert.match((await terminal.run(['agents', 'show', 'Helper'])).stdout, /^name: Helper$/m)
  assert.is((await terminal.run(['config', 'unset', 'output'])).code, 0)
  assert.is((await terminal.run(['config', 'get', 'output'])).code, 3)
  assert.is((await terminal.run(['config', 'set', 'output', 'xml'])).code, 2)
  assert.is((await terminal.run(['config', 'set', 'url', 'not an address'])).code, 2)
  await terminal.run(['config', 'set', 'token', '-'], { input: 'canary-token\n' })
  const listed = await terminal.run(['config', 'list'])
  assert.not.match(listed.stdout + listed.stderr, 'canary-token')
  assert.match(
    listed.stderr,
    /default-model and currency are not shown: .*token/,
    'the other settings are shown if the service is not available',
  )
  assert.is((await terminal.run(['agents', 'list'])).code, 4, 'an invalid token is rejected')
  assert.is((await terminal.run(['config', 'unset', 'token'])).code, 0)
  assert.is(statSync(join(terminal.home, 'config.json')).mode & 0o777, 0o600)
})

test('config sets and lists the default model by name', async () => {
  const { data: model } = await terminal.request('POST', '/models', { name: 'usual', provider: 'ollama', model_id: 'x' })
  await terminal.run(['config', 'set', 'default-model', 'usual'])
  assert.is((await terminal.run(['config', 'get', 'default-model'])).stdout, `${model.id}\n`)
  assert.match((await terminal.run(['config', 'list'])).stdout, /^default-model +usual /m)
  assert.equal(await terminal.json(['config', 'list']), { 'default-model': model.id, currency: 'USD' })
})

test('status shows the default model, and doctor reports problems', async () => {
  assert.is((await terminal.json(['status'])).home, terminal.home)
  assert.match((await terminal.run(['status'])).stdout, /^default model +usual$/m)
  const states = async () =>
    Object.fromEntries(
      (JSON.parse((await terminal.run(['doctor', '--json'])).stdout) as { name: string; state: string }[]).map(({ name, state }) => [
        name,
        state,
      ]),
    )
  const well = await states()
  assert.equal(Object.keys(well), [
    ...['node', 'home', 'disk', 'embedding', 'daemon', 'version', 'database', 'vectors', 'token', 'secrets'],
    ...['models', 'knowledge', 'webhooks', 'backup'],
  ])
  assert.is(well.home, 'good')
  chmodSync(terminal.home, 0o755)
  const ill = await terminal.run(['doctor'])
  chmodSync(terminal.home, 0o700)
  assert.is(ill.code, 1)
  assert.match(ill.stdout, `chmod -R go= '${terminal.home}'`)
  const wrong = await terminal.run(['doctor', '--json'], { environment: { CADRE_TOKEN: 'wrong' } })
  assert.is(wrong.code, 1)
})

test('a missing permission exits with 4', async () => {
  const { data: viewer } = await terminal.request('POST', '/tokens', { name: 'reader', role: 'viewer' })
  const environment = { CADRE_TOKEN: viewer.token }
  assert.is((await terminal.run(['agents', 'list'], { environment })).code, 0)
  assert.is((await terminal.run(['agents', 'create', '--name', 'x'], { environment })).code, 4)
  assert.is((await terminal.run(['agents', 'list'], { environment: { CADRE_TOKEN: 'nonsense' } })).code, 4)
})

test('the help has all sections, and every command has a description and examples', async () => {
  const root = await terminal.run(['--help'])
  assert.is(root.code, 0)
  for (const section of ['USAGE', 'RESOURCES', 'EXAMPLES', 'ENVIRONMENT', 'EXIT CODES']) assert.match(root.stdout, section)
  const variables = readFileSync(fileURLToPath(new URL('../../../src/config.ts', import.meta.url)), 'utf8').match(/\bCADRE_[A-Z_]+/g)
  for (const name of new Set(variables)) assert.match(root.stdout, new RegExp(`^ +${name} `, 'm'))
  assert.is((await terminal.run(['help'])).stdout, root.stdout)
  assert.is((await terminal.run(['help', 'agents', 'create'])).stdout, (await terminal.run(['agents', 'create', '-h'])).stdout)
  const manifest = JSON.parse(readFileSync(fileURLToPath(new URL('../../../oclif.manifest.json', import.meta.url)), 'utf8')) as {
    commands: Record<string, { description?: string; examples?: unknown[]; flags: Record<string, { description?: string }> }>
  }
  for (const [id, { description, examples, flags }] of Object.entries(manifest.commands)) {
    assert.ok(description, `${id} has a description`)
    assert.ok(examples?.length, `${id} has examples`)
    for (const [name, flag] of Object.entries(flags)) assert.ok(flag.description, `${id} --${name} has a description`)
  }
})

test('usage errors name the problem and show an example', async () => {
  const many = await terminal.run(['plan', './out'])
  assert.equal(
    [many.code, many.stderr],
    [2, 'Error: cadre plan does not accept the argument "./out".\nFor example: cadre plan -f ./cadre\n'],
  )
  const few = await terminal.run(['plan'])
  assert.equal([few.code, few.stderr], [2, 'Error: Missing --file.\nFor example: cadre plan -f ./cadre\n'])
  const shown = await terminal.run(['agents', 'show'])
  assert.equal([shown.code, shown.stderr], [2, "Error: Missing ID.\nFor example: cadre agents show 'Handbook helper'\n"])
  const flag = await terminal.run(['agents', 'list', '--limt', '3'])
  assert.equal([flag.code, flag.stderr], [2, 'Error: cadre agents list has no flag --limt.\nDid you mean --limit?\n'])
  const extra = await terminal.run(['agents', 'show', 'Helper', 'now'])
  assert.match(extra.stderr, 'cadre agents show does not accept the argument "now".')
  const PROBLEMS: [string[], string][] = [
    [['agents', 'list', '--page', '0'], '--page must be an integer greater than or equal to 1, not "0".'],
    [['agents', 'list', '--page'], '--page needs a value.'],
    [['agents', 'list', '--page', '1', '--all'], '--all and --page cannot be used together.'],
    [['agents', 'list', '--order', 'up'], '--order must be one of asc, desc, not "up".'],
  ]
  for (const [words, message] of PROBLEMS) {
    const { code, stderr } = await terminal.run(words)
    assert.equal([code, stderr.split('\n')[0]], [2, `Error: ${message}`])
  }
  assert.match((await terminal.run(['agents', 'lst'])).stderr, 'Did you mean cadre agents list?')
  assert.match(
    (await terminal.run(['help', 'agents', 'crete'])).stderr,
    '"agents crete" is not a cadre command.\nDid you mean cadre agents create?',
  )
  assert.match((await terminal.run(['frobnicate', 'it'])).stderr, '"frobnicate it" is not a cadre command.')
  const misspelled = await terminal.run(['aks', 'How many days?'])
  assert.equal([misspelled.code, misspelled.stderr], [2, 'Error: "aks" is not a cadre command.\nDid you mean cadre ask?\n'])
  assert.match((await terminal.run(['knowlege', 'add', './docs'])).stderr, 'Did you mean cadre knowledge add?')
  assert.match((await terminal.run(['tools', 'frobnicate', 'x'])).stderr, '"tools frobnicate x" is not a cadre command.')
})

test('a closed stdout is not an error', async () => {
  const run = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))
  const shell = spawn('bash', ['-c', `set -o pipefail; '${process.execPath}' '${run}' autocomplete bash | true; echo "code $?"`], {
    env: { ...process.env, CADRE_HOME: terminal.home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  await once(shell, 'close')
  assert.is(output, 'code 0\n')
})

test('FORCE_COLOR enables colors, and --no-color disables them', async () => {
  const words = ['agents', 'show', 'nobody']
  assert.match((await terminal.run(words, { environment: { FORCE_COLOR: '1', NO_COLOR: undefined } })).stderr, '\u001b[31m')
  assert.not.match((await terminal.run(words)).stderr, '\u001b')
  assert.not.match((await terminal.run([...words, '--no-color'], { environment: { FORCE_COLOR: '1' } })).stderr, '\u001b')
})

test('--version and -v print the version', async () => {
  const { version } = JSON.parse(readFileSync(fileURLToPath(new URL('../../../package.json', import.meta.url)), 'utf8')) as {
    version: string
  }
  for (const flag of ['--version', '-v'])
    assert.match((await terminal.run([flag])).stdout, new RegExp(`^cadre/${version.replaceAll('.', '\\.')} `))
})

test.run()
