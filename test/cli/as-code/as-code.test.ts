/** export, plan and apply against real daemons. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { hasTmux, openShell } from '../../harness/tmux-terminal.ts'

const test = suite('as code at the terminal')
const atTerminal = hasTmux ? test : test.skip
const ENVIRONMENT = { CLOUD_KEY: 'canary-cloud-key', WEATHER_TOKEN: 'canary-weather-token' }
let terminal: Terminal
let other: Terminal
let files: string

const FILES: Record<string, string> = {
  'models/cloud.yaml': 'name: Cloud\nprovider: openai\nmodel_id: gpt-4o\napi_key: ${env:CLOUD_KEY}\n',
  'api-tools/weather.yaml': 'name: weather\nurl: https://api.example.com/\nheaders:\n  Authorization: Bearer ${env:WEATHER_TOKEN}\n',
  'prompt-templates/tone.yaml': 'name: Tone\ntemplate: |\n  You help {{company}}.\n  Be kind.\n',
  'knowledge-sources/notes.yaml': 'name: Notes\ntype: text\nconfiguration:\n  text: Leave is 30 days.\n',
  'rag-tools/notes.yaml': 'name: notes\nknowledge_source_id: Notes\n',
  'agents/helper.yaml':
    'name: Helper / one\nmodel_id: Cloud\ntools: [notes, weather]\nprompt_template_id: Tone\nvariables: {company: Acme}\n',
  'evaluations/smoke.yaml': 'name: Smoke\ntype: agent\ntarget_id: Helper / one\ntest_cases: [{input: "Leave?", expected_output: "30"}]\n',
  'usage-thresholds/all.yaml': 'metric: tokens\nlimit: 1000000\nperiod: day\n',
  'settings.yaml': 'default_model_id: Cloud\n',
}

const put = (file: string, text: string) => {
  mkdirSync(dirname(join(files, file)), { recursive: true })
  writeFileSync(join(files, file), text)
}
const readFiles = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.yaml'))
      .sort()
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  )
const runOk = async (where: Terminal, words: string[], environment: Record<string, string> = {}) => {
  const ran = await where.run(words, { environment })
  assert.is(ran.code, 0, `${words.join(' ')}: ${ran.stderr}`)
  assert.not.match(ran.stdout + ran.stderr, 'canary')
  return ran
}

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    other = openTerminal()
    files = join(terminal.home, '..', 'files')
    for (const [file, text] of Object.entries(FILES)) put(file, text)
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    await other.close()
  }),
)

test('invalid files are reported before a daemon is started', async () => {
  put('agents/bad.yaml', 'name: [x\n')
  const bad = await terminal.run(['plan', '-f', files])
  assert.is(bad.code, 2)
  assert.match(bad.stderr, /agents\/bad\.yaml, line 2/)
  rmSync(join(files, 'agents/bad.yaml'))
  assert.match((await terminal.run(['apply', '-f', join(files, 'nowhere')])).stderr, 'Folder not found')
  assert.match((await terminal.run(['plan', '-f', files, '--only', 'agent'])).stderr, '--only: unknown family agent.\nDid you mean agents?')
  assert.not.match((await terminal.run(['daemon', 'status'])).stdout, 'http://')
})

test('a plan shows new resources and missing secrets, and apply fails without the secrets', async () => {
  const { stdout } = await runOk(terminal, ['plan', '-f', files])
  assert.match(stdout, /^\+ agents\/Helper \/ one\n {4}name +Helper \/ one$/m)
  assert.match(stdout, /^! CLOUD_KEY is not set \(needed by models\/cloud\.yaml for api_key\)$/m)
  assert.match(stdout, /^8 to create, 1 to update, 0 to delete, 0 unchanged\.$/m)
  const refused = await terminal.run(['apply', '-f', files])
  assert.is(refused.code, 2)
  assert.match(
    refused.stderr,
    'Variables are not set: CLOUD_KEY (models/cloud.yaml: api_key), WEATHER_TOKEN (api-tools/weather.yaml: headers).',
  )
  assert.equal(await terminal.json(['agents', 'list']), [])
})

test('apply creates all resources, and a second apply changes nothing', async () => {
  const { stderr } = await runOk(terminal, ['apply', '-f', files], ENVIRONMENT)
  assert.match(stderr, 'Created 8, updated 1, deleted 0.')
  assert.match(stderr, 'cadre knowledge sync Notes')
  for (const environment of [ENVIRONMENT, {}])
    assert.match((await runOk(terminal, ['apply', '-f', files], environment)).stdout, 'No changes. 9 unchanged.')
  await runOk(terminal, ['plan', '-f', files, '--prune', '--check'])
})

test('an export, applied to an empty home, exports the same files, byte for byte', async () => {
  const [first, second] = [join(terminal.home, '..', 'first'), join(terminal.home, '..', 'second')]
  const { stderr } = await runOk(terminal, ['export', '--to', first])
  assert.match(stderr, 'tokens, conversations, usage')
  assert.match(stderr, '9 files written, 0 unchanged, 0 removed')
  const secrets = {
    CADRE_MODEL_CLOUD_API_KEY: 'canary-cloud-key',
    CADRE_API_TOOL_WEATHER_HEADER_AUTHORIZATION: 'Bearer canary-weather-token',
  }
  await runOk(other, ['apply', '-f', first], secrets)
  await runOk(other, ['export', '--to', second])
  assert.equal(Object.keys(readFiles(first)).length, 9)
  assert.equal(readFiles(second), readFiles(first))
  assert.not.match(JSON.stringify(readFiles(first)), 'canary')
  assert.match((await runOk(other, ['apply', '-f', first], secrets)).stdout, 'No changes.')
  assert.match((await runOk(terminal, ['export', '--only', 'agents'])).stdout, /^# agents\/helper-one\.yaml\nname: Helper \/ one\n/)
})

test('an export does not overwrite changed files without --force', async () => {
  const folder = join(terminal.home, '..', 'kept')
  cpSync(join(terminal.home, '..', 'first'), folder, { recursive: true })
  assert.match((await runOk(terminal, ['export', '--to', folder])).stderr, '0 files written, 9 unchanged, 0 removed')
  writeFileSync(join(folder, 'agents', 'mine.yaml'), 'name: Mine\n')
  writeFileSync(join(folder, 'settings.yaml'), 'default_model_id: embedded\n')
  const refused = await terminal.run(['export', '--to', folder])
  assert.is(refused.code, 2)
  assert.match(refused.stderr, 'contains files that differ from the export: settings.yaml, agents/mine.yaml.')
  assert.match((await runOk(terminal, ['export', '--to', folder, '--force'])).stderr, '1 files written, 8 unchanged, 1 removed')
  assert.equal(readFiles(folder), readFiles(join(terminal.home, '..', 'first')))
})

test('a plan shows changes field by field, and exits with 100 with --check', async () => {
  put('models/cloud.yaml', `${FILES['models/cloud.yaml']}context_window: 4096\n`)
  put('prompt-templates/tone.yaml', `name: Tone\ntemplate: |\n  You help {{company}}.\n  ${'Be kind, and say what you know. '.repeat(6)}\n`)
  const { code, stdout } = await terminal.run(['plan', '-f', files, '--check'], { environment: { CLOUD_KEY: 'canary-another-key' } })
  assert.is(code, 100)
  assert.match(stdout, /^~ models\/Cloud\n {4}context_window +4096\n {4}api_key +\(secret\) → new value$/m)
  assert.match(stdout, /^ {4}template\n {6}- …\{\{company\}\}\. Be kind\.\n {6}\+ …\{\{company\}\}\. Be kind, and .*…$/m)
  assert.ok(stdout.split('\n').every((line) => line.length <= 120))
  assert.not.match(stdout, 'canary')
  const json = await terminal.json<{ changes: { action: string }[] }>(['plan', '-f', files])
  assert.is(json.changes.filter(({ action }) => action === 'update').length, 2)
  await runOk(terminal, ['apply', '-f', files])
})

test('a failed apply changes nothing', async () => {
  put('models/new.yaml', 'name: New\nprovider: ollama\nmodel_id: x\n')
  put('agents/two.yaml', 'name: Two\nmodel_id: Nobody\n')
  const failed = await terminal.run(['apply', '-f', files])
  assert.is(failed.code, 2)
  assert.match(failed.stderr, 'agents/two.yaml: model_id: there is no model "Nobody".')
  assert.is((await terminal.run(['models', 'show', 'New'])).code, 3)
  rmSync(join(files, 'agents/two.yaml'))
  rmSync(join(files, 'models/new.yaml'))
})

test('apply --prune needs --yes in a script', async () => {
  rmSync(join(files, 'evaluations'), { recursive: true })
  assert.match((await runOk(terminal, ['plan', '-f', files])).stdout, 'No changes.')
  const refused = await terminal.run(['apply', '-f', files, '--prune'])
  assert.is(refused.code, 2)
  assert.match(refused.stdout, /^- evaluations\/Smoke {2}\(with its runs\)$/m)
  assert.match(refused.stderr, 'add --yes')
  assert.is((await terminal.json<unknown[]>(['evaluations', 'list'])).length, 1)
  const { changes } = await terminal.json<{ changes: { action: string }[] }>(['apply', '-f', files, '--prune', '--yes'])
  assert.is(changes.filter(({ action }) => action === 'delete').length, 1)
  assert.equal(await terminal.json(['evaluations', 'list']), [])
})

atTerminal('apply asks for confirmation at a terminal, and the plan fits its width', async () => {
  put('agents/third.yaml', `name: Third\nsystem_prompt: ${'words '.repeat(40)}\n`)
  const screen = openShell(terminal, 60)
  try {
    screen.start(`cadre apply -f ${files}`)
    assert.match(await screen.waitFor('Apply these changes? [y/N]'), /^\+ agents\/Third\n {4}name +Third\n {4}system_prompt +words .*…$/m)
    screen.type('n')
    assert.match(await screen.waitForExit(), /Nothing was changed\.\nexit 1/)
    screen.start(`cadre apply -f ${files}`)
    await screen.waitFor('Apply these changes? [y/N]')
    screen.type('y')
    assert.match(await screen.waitForExit(), /Created 1, updated 0, deleted 0\.\nexit 0/)
  } finally {
    screen.close()
  }
})

test.run()
