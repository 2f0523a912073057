/** Input from flags, files and stdin, and usage errors before any request is sent. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('input at the terminal')
let terminal: Terminal
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    await terminal.json(['models', 'create', '--name', 'llama', '--provider', 'ollama', '--model-id', 'llama3.2'])
  }),
)
test.after(reportFailure(() => terminal.close()))

const file = (name: string, text: string) => {
  const path = join(terminal.home, '..', name)
  writeFileSync(path, text)
  return path
}

test('create reads fields from a YAML file, and flags override them', async () => {
  const path = file('agent.yaml', 'name: from file\nmodel_id: llama\nsystem_prompt: |\n  Two\n  lines\ntemperature: 1\n')
  const agent = await terminal.json(['agents', 'create', '--file', path, '--temperature', '0.5'])
  assert.equal([agent.name, agent.system_prompt, agent.temperature], ['from file', 'Two\nlines\n', 0.5])
  assert.match(String(agent.model_id), /^model_/)
})

test('create creates every item of a list in a file or on stdin', async () => {
  const path = file('agents.json', JSON.stringify([{ name: 'first' }, { name: 'second' }]))
  const fromFile = await terminal.json<{ name: string }[]>(['agents', 'create', '--file', path])
  const fromStdin = await terminal.json<{ name: string }[]>(['agents', 'create', '--file', '-'], {
    input: 'name: third\n---\nname: fourth\n',
  })
  assert.equal(
    [...fromFile, ...fromStdin].map(({ name }) => name),
    ['first', 'second', 'third', 'fourth'],
  )
})

test('if an item of a list fails, create prints the items before it', async () => {
  const { code, stdout, stderr } = await terminal.run(['agents', 'create', '--file', '-', '--json'], {
    input: '[{"name":"kept"},{"name":"bad","colour":"red"}]',
  })
  assert.is(code, 2)
  assert.equal(
    (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name),
    ['kept'],
  )
  assert.match(stderr, 'Item 2 of 2 failed')
  assert.match(stderr, 'colour')
})

test('an endless file is rejected before it fills the memory', async () => {
  const { code, stderr } = await terminal.run(['agents', 'create', '--file', '/dev/zero'])
  assert.is(code, 2)
  assert.match(stderr, '/dev/zero is larger than 64 MB')
})

test('YAML with recursive aliases or an alias bomb is rejected', async () => {
  const laughs = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...['b', 'c', 'd', 'e'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcd'[at]}`).join(',')}]`),
  ].join('\n')
  for (const text of ['name: x\nvariables: &a\n  self: *a\n', laughs]) {
    const { code, stderr } = await terminal.run(['agents', 'create', '--file', '-'], { input: text })
    assert.is(code, 2)
    assert.match(stderr, 'aliases')
  }
  assert.match((await terminal.run(['agents', 'create', '--file', '-'], { input: 'name: [x' })).stderr, 'Error: Stdin is not valid YAML')
})

test('@file reads a text from a file, and @@ is a literal @', async () => {
  const path = file('prompt.md', 'Answer\nfrom the handbook.')
  const agent = await terminal.json(['agents', 'create', '--name', 'told', '--system-prompt', `@${path}`, '--description', '@@home'])
  assert.equal([agent.system_prompt, agent.description], ['Answer\nfrom the handbook.', '@home'])
})

test('a secret is read from stdin and never printed', async () => {
  const { code, stdout, stderr } = await terminal.run(
    ['models', 'create', '--name', 'keyed', '--provider', 'openai', '--model-id', 'gpt', '--api-key', '-'],
    {
      input: 'sk-canary-123\n',
    },
  )
  assert.is(code, 0)
  assert.not.match(stdout + stderr, 'sk-canary-123')
  assert.match(stdout, /has api key +yes/)
})

test('stdin is read only once', async () => {
  const { code, stderr } = await terminal.run(['agents', 'create', '--file', '-', '--system-prompt', '-'], { input: '{}' })
  assert.is(code, 2)
  assert.match(stderr, 'only once')
})

const REJECTED: [string, string[], RegExp][] = [
  ['a missing field', ['agents', 'create'], /Missing --name/],
  ['a number out of range', ['agents', 'create', '--name', 'x', '--temperature', '9'], /--temperature 9 is out of range: 0 to 2/],
  ['an invalid number', ['agents', 'create', '--name', 'x', '--max-tokens', 'many'], /whole number/],
  ['an unknown enum value', ['models', 'create', '--name', 'x', '--provider', 'nobody', '--model-id', 'y'], /openai-compatible/],
  [
    'invalid JSON',
    ['evaluations', 'create', '--name', 'x', '--type', 'agent', '--target', 'y', '--test-cases', '[oops'],
    /--test-cases is not valid JSON/,
  ],
  ['an unknown flag', ['agents', 'list', '--bogus'], /--bogus/],
  ['a filter without a value', ['agents', 'list', '--filter', 'name'], /field=value/],
  ['a filter on an unknown field', ['agents', 'list', '--filter', 'colour=red'], /colour/],
  ['an update without fields', ['agents', 'update', 'x'], /Nothing to update/],
  ['a delete without --yes', ['agents', 'delete', 'x'], /--yes/],
  ['a missing file', ['agents', 'create', '--file', 'nowhere.json'], /File not found: nowhere\.json\./],
  ['an unknown command', ['agents', 'lst'], /Did you mean cadre agents list\?/],
]
for (const [problem, words, message] of REJECTED) {
  test(`${problem} is a usage error on stderr`, async () => {
    const { code, stdout, stderr } = await terminal.run(words)
    assert.is(code, 2)
    assert.is(stdout, '')
    assert.match(stderr, message)
    assert.not.match(stderr, / at .*\.js:/)
  })
}

test('an unknown name exits with 3 and suggests how to list the names', async () => {
  const { code, stderr } = await terminal.run(['agents', 'show', 'nobody'])
  assert.is(code, 3)
  assert.match(stderr, 'cadre agents list')
})

test('with --json, an error is JSON on stderr', async () => {
  const { code, stdout, stderr } = await terminal.run(['agents', 'show', 'nobody', '--json'])
  assert.equal([code, stdout], [3, ''])
  const error = JSON.parse(stderr) as Record<string, unknown>
  assert.equal([error.success, error.code, error.exit_code], [false, 'NOT_FOUND', 3])
})

test('a list is paged, sorted and filtered, and its footer is on stderr', async () => {
  const made = Array.from({ length: 3 }, (_, index) => ({ name: `paged ${index}`, provider: 'google', model_id: `m${index}` }))
  await terminal.json(['models', 'create', '--file', '-'], { input: JSON.stringify(made) })
  const page = await terminal.run([
    'models',
    'list',
    '--provider',
    'google',
    '--sort',
    'name',
    '--order',
    'asc',
    '--limit',
    '2',
    '--page',
    '2',
    '--output',
    'csv',
  ])
  assert.equal(page.stdout.trim().split('\r\n').length, 2)
  assert.match(page.stdout, 'paged 2')
  const first = await terminal.run(['models', 'list', '--provider', 'google', '--limit', '2'])
  assert.match(first.stderr, '2 of 3 · page 1 of 2')
  assert.not.match(first.stdout, 'page 1')
  const all = await terminal.json<unknown[]>(['models', 'list', '--filter', 'provider=google', '--all'])
  assert.is(all.length, 3)
})

test('an empty list shows on stderr how to create an item', async () => {
  const { code, stdout, stderr } = await terminal.run(['webhooks', 'list'])
  assert.equal([code, stdout], [0, ''])
  assert.match(stderr, 'cadre webhooks create')
  assert.equal(await terminal.json(['webhooks', 'list']), [])
})

test('escape sequences in data are never printed', async () => {
  await terminal.json(['agents', 'create', '--name', 'evil \u001b[2J\u001b]0;owned\u0007 name', '--description', '\u009b2J'])
  await terminal.json(['prompts', 'create', '--name', 'evil', '--template', 'evil \u001b[2Jprompt'])
  for (const words of [
    ['agents', 'list'],
    ['agents', 'list', '--json'],
    ['agents', 'list', '-o', 'yaml'],
    ['agents', 'list', '-o', 'csv'],
    ['prompts', 'render', 'evil'],
    ['agents', 'show', 'evil \u001b[2J\u001b]0;owned\u0007 name'],
  ]) {
    const { stdout, stderr } = await terminal.run(words)
    assert.match(stdout, 'evil')
    assert.not.match(stdout + stderr, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/, words.join(' '))
  }
  assert.is((await terminal.run(['prompts', 'render', 'evil', '--raw'])).stdout, 'evil \u001b[2Jprompt\n')
})

test.run()
