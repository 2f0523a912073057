/** Runs the shell blocks of every guide and compares their output with the guide. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stopDaemon } from '../../src/client/stop-daemon.ts'
import { homePaths } from '../../src/config.ts'
import { installShellCommand } from '../harness/command-host/shell-command.ts'
import { reportFailure } from '../harness/hooks.ts'
import { ScriptedProvider, streamReply } from '../harness/scripted-provider.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const GUIDES = join(ROOT, 'docs', 'guides')
/** The local model server of the guides, replaced by a scripted provider. */
const MODEL_SERVER = 'http://127.0.0.1:11434/v1'
/** The port that a guide listens on, replaced by a free one. */
const GUIDE_PORT = '8123'

const test = suite('guides')
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    provider = await ScriptedProvider.start(
      'openai',
      streamReply(({ body }) => ({ text: [`You said: ${body.messages.at(-1).content}`] })),
    )
  }),
)
test.after(reportFailure(() => provider.close()))

interface Block {
  language: string
  text: string
}

/** Returns the fenced blocks. Quoted and indented blocks are ignored. */
function parseFences(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }))
}

const BLOCK_MARKER = '@@@ block'

/** Joins the blocks of a guide into one script, so that they share variables. A marker separates their outputs. */
function createScript(blocks: readonly Block[]): string {
  const parts = blocks.filter(({ language }) => language === 'sh').map(({ text }, at) => `printf '\\n${BLOCK_MARKER} ${at}\\n'\n${text}`)
  return ['set -eu', ...parts].join('\n')
}

/** Asserts that the output contains the lines shown in the guide, in order; … matches anything. */
function checkOutput(expected: string, output: string, guide: string): void {
  let from = 0
  for (const line of expected.split('\n').filter((text) => text.trim() !== '' && text.trim() !== '…')) {
    const pattern = line
      .trim()
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')
    const match = new RegExp(pattern).exec(output.slice(from))
    assert.ok(match, `${guide} shows "${line.trim()}", but the output is:\n${output}`)
    from += match.index + match[0].length
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function runGuide(guide: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-guide-'))
  const bin = join(folder, 'bin')
  const work = join(folder, 'work')
  for (const path of [bin, work]) mkdirSync(path)
  const command = await installShellCommand(bin, { startsProcess: guide === 'first-agent.md' })
  // The guide about MCP servers runs an installed package, without a network.
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift; exec '${process.execPath}' '${join(ROOT, 'node_modules')}'/"$1"/dist/index.js "$2"\n`)
  chmodSync(join(bin, 'npx'), 0o755)
  const markdown = readFileSync(join(GUIDES, guide), 'utf8')
    .replaceAll(MODEL_SERVER, provider.url)
    .replaceAll(GUIDE_PORT, String(await findFreePort()))
  const blocks = parseFences(markdown)
  const environment = {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    HOME: folder,
    CADRE_HOME: join(folder, 'home'),
    CADRE_PORT: '0',
    CADRE_KEYCHAIN: 'off',
    CADRE_RATE_LIMIT: '10000',
    CADRE_MODEL_SERVERS: 'none',
    CADRE_TIMEOUT_FACTOR: process.env.CADRE_TIMEOUT_FACTOR,
  }
  const shell = (script: string) =>
    new Promise<{ failed: boolean; output: string }>((resolve) => {
      execFile(
        'bash',
        ['-c', `exec 2>&1 </dev/null\n${script}`],
        { cwd: work, env: environment, maxBuffer: 64 * 1024 ** 2 },
        (error, stdout) => resolve({ failed: error !== null, output: stdout }),
      )
    })
  try {
    const { failed, output } = await shell(createScript(blocks))
    assert.not.ok(failed, `${guide} failed:\n${output.slice(-3_000)}`)
    const outputs = output.split(new RegExp(`^${BLOCK_MARKER} \\d+$`, 'm')).slice(1)
    let index = -1
    for (const { language, text } of blocks) {
      if (language === 'sh') index++
      if (language === 'text') checkOutput(text, outputs[index] ?? '', guide)
    }
  } finally {
    command.close()
    await stopDaemon(homePaths(environment))
    rmSync(folder, { recursive: true, force: true })
  }
}

for (const guide of readdirSync(GUIDES).filter((name) => name.endsWith('.md'))) test(`${guide} works as written`, () => runGuide(guide))

test('the guides of the first steps exist', () => {
  for (const name of [
    'first-agent',
    'your-documents',
    'rest',
    'models',
    'memory',
    'tools-from-openapi',
    'tools-from-mcp',
    'coding-agents',
    'evaluations-in-ci',
    'backup-and-upgrade',
    'openai',
    'server',
    'team-server',
  ])
    assert.ok(readdirSync(GUIDES).includes(`${name}.md`), name)
})

test.run()
