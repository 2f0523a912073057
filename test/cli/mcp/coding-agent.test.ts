import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal } from '../../harness/cli.ts'
import { type ReceivedRequest, ScriptedProvider, streamReply } from '../../harness/scripted-provider.ts'
import type { Json } from '../../harness/test-server.ts'
import { findPackageFile } from '../../mcp/optional-package.ts'

const GEMINI = findPackageFile('@google/gemini-cli', 'bundle/gemini.js')
/** Names of Gemini CLI: mcp_SERVER_TOOL. */
const TOOLS = ['search', 'ask', 'read_document', 'list_sources', 'describe_tables', 'query_table'].map((name) => `mcp_cadre_${name}`)
const SETTINGS = { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } }

const test = suite('coding agents')

const getResult = ({ body }: ReceivedRequest): string | undefined =>
  body.contents.at(-1).parts.find(({ functionResponse }: Json) => functionResponse)?.functionResponse.response.output

function runGemini(file: string, folder: string, env: Record<string, string | undefined>): Promise<{ output: string; errors: string }> {
  return new Promise((resolve, reject) => {
    const words = ['--prompt', 'How many days of leave do I have?', '--model', 'gemini-2.5-flash', '--output-format', 'json']
    const child = spawn(process.execPath, [file, ...words, '--approval-mode', 'yolo'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const result = { output: '', errors: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (result.output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (result.errors += text))
    child.once('error', reject).once('close', () => resolve(result))
  })
}

;(GEMINI ? test : test.skip)('Gemini CLI, set up by cadre mcp install, lists the tools and calls one', async () => {
  const provider = await ScriptedProvider.start(
    'google',
    streamReply((received) =>
      getResult(received) === undefined
        ? { calls: [{ name: 'mcp_cadre_search', arguments: { query: 'How many days of leave?' } }] }
        : { text: ['You have twenty-five days.'] },
    ),
  )
  const terminal = openTerminal()
  const home = dirname(terminal.home)
  const [handbook, project, settings] = [join(home, 'handbook'), join(home, 'project'), join(home, '.gemini')]
  for (const folder of [handbook, project, settings]) mkdirSync(folder)
  writeFileSync(join(handbook, 'leave.md'), '# Leave\n\nEvery employee has twenty-five days of leave.\n')
  writeFileSync(join(settings, 'settings.json'), JSON.stringify(SETTINGS))
  await terminal.json(['knowledge', 'add', handbook])
  await terminal.json(['mcp', 'install', 'gemini', '--yes'])

  const { output, errors } = await runGemini(GEMINI as string, project, {
    ...terminal.environment,
    GEMINI_API_KEY: 'none',
    GOOGLE_GEMINI_BASE_URL: provider.url.replace('/v1beta', ''),
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  })
  await Promise.all([terminal.close(), provider.close()])
  const [first] = provider.received
  assert.ok(first, errors)
  const listed = first.body.tools.flatMap(({ functionDeclarations = [] }: Json) => functionDeclarations.map(({ name }: Json) => name))
  assert.equal(
    TOOLS.filter((name) => !listed.includes(name)),
    [],
  )
  const found = provider.received.map(getResult).find((result) => result !== undefined)
  assert.match(found ?? '', 'Every employee has twenty-five days of leave.')
  const { response, stats } = JSON.parse(output.slice(output.indexOf('{')))
  assert.is(response, 'You have twenty-five days.')
  assert.equal([stats.tools.totalSuccess, stats.tools.totalFail], [1, 0])
})

test.run()
