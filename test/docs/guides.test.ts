/** The guides, run from top to bottom as a reader would: every block of shell works, and says what the guide shows. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import { ScriptedProvider, streamReply } from '../harness/scripted-provider.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const GUIDES = join(ROOT, 'docs', 'guides')
/** The address of a local model server in the guides; here a scripted provider stands in for it. */
const MODEL_SERVER = 'http://127.0.0.1:11434/v1'
/** A port that a guide listens at by itself. */
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

/** Fenced blocks in their order; what is quoted or indented is not run. */
function parseBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }))
}

const BLOCK_MARKER = '@@@ block'

/** One shell for the whole guide, so that variables live on; a mark before each block tells their outputs apart. */
function createScript(blocks: readonly Block[]): string {
  const parts = blocks.filter(({ language }) => language === 'sh').map(({ text }, at) => `printf '\\n${BLOCK_MARKER} ${at}\\n'\n${text}`)
  return ['set -eu', ...parts].join('\n')
}

/** Each line of what a guide shows, in order, where … is anything. */
function checkOutput(shown: string, said: string, guide: string): void {
  let from = 0
  for (const line of shown.split('\n').filter((text) => text.trim() !== '' && text.trim() !== '…')) {
    const pattern = line
      .trim()
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')
    const found = new RegExp(pattern).exec(said.slice(from))
    assert.ok(found, `${guide} shows "${line.trim()}", but this was said:\n${said}`)
    from += found.index + found[0].length
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
  const place = mkdtempSync(join(tmpdir(), 'cadre-guide-'))
  const bin = join(place, 'bin')
  const work = join(place, 'work')
  for (const folder of [bin, work]) mkdirSync(folder)
  writeFileSync(join(bin, 'cadre'), `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'bin', 'run.js')}' "$@"\n`)
  chmodSync(join(bin, 'cadre'), 0o755)
  const markdown = readFileSync(join(GUIDES, guide), 'utf8')
    .replaceAll(MODEL_SERVER, provider.url)
    .replaceAll(GUIDE_PORT, String(await findFreePort()))
  const blocks = parseBlocks(markdown)
  const environment = {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    HOME: place,
    CADRE_HOME: join(place, 'home'),
    CADRE_PORT: '0',
    CADRE_KEYCHAIN: 'off',
    CADRE_RATE_LIMIT: '10000',
    CADRE_MODEL_SERVERS: 'none',
  }
  const shell = (script: string) =>
    new Promise<{ failed: boolean; said: string }>((resolve) => {
      execFile(
        'bash',
        ['-c', `exec 2>&1 </dev/null\n${script}`],
        { cwd: work, env: environment, maxBuffer: 64 * 1024 ** 2 },
        (error, stdout) => resolve({ failed: error !== null, said: stdout }),
      )
    })
  try {
    const { failed, said } = await shell(createScript(blocks))
    assert.not.ok(failed, `${guide} stopped:\n${said.slice(-3_000)}`)
    const outputs = said.split(new RegExp(`^${BLOCK_MARKER} \\d+$`, 'm')).slice(1)
    let ran = -1
    for (const { language, text } of blocks) {
      if (language === 'sh') ran++
      if (language === 'text') checkOutput(text, outputs[ran] ?? '', guide)
    }
  } finally {
    await shell('cadre daemon stop || true')
    rmSync(place, { recursive: true, force: true })
  }
}

for (const guide of readdirSync(GUIDES).filter((name) => name.endsWith('.md')))
  test(`${guide} can be followed as it is written`, () => runGuide(guide))

test('there is a guide for each of the first things that people do', () => {
  for (const name of ['first-agent', 'your-documents', 'rest', 'models', 'tools-from-openapi', 'evaluations-in-ci', 'backup-and-upgrade'])
    assert.ok(readdirSync(GUIDES).includes(`${name}.md`), name)
})

test.run()
