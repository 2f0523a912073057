import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const COPIED = ['src', 'commands', 'daemon', 'bin', 'test/harness', 'scripts', 'package.json', 'tsconfig.json']

interface Block {
  file: string
  /** Insert below the first line that contains this text; a block without it is a new file. */
  after: string | undefined
  text: string
}

const test = suite('docs/extending.md')
const copy = mkdtempSync(join(tmpdir(), 'cadre-extending-'))

test.before(() => {
  for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true })
  // The daemon reads the files of Swagger UI from dist.
  for (const folder of ['node_modules', 'dist']) symlinkSync(join(ROOT, folder), join(copy, folder))
})
test.after(() => rmSync(copy, { recursive: true, force: true }))

function readBlocks(): Block[] {
  const text = readFileSync(join(ROOT, 'docs/extending.md'), 'utf8')
  const blocks = text.matchAll(/^```ts file=(\S+)(?: after="([^\n]*)")?\n([\s\S]*?)^```$/gm)
  return [...blocks].map(([, file = '', after, content = '']) => ({ file, after, text: content }))
}

function applyBlock({ file, after, text }: Block): void {
  const path = join(copy, file)
  if (after === undefined) {
    assert.not.ok(existsSync(path), `${file} exists already`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return
  }
  const lines = readFileSync(path, 'utf8').split('\n')
  const index = lines.findIndex((line) => line.includes(after))
  assert.ok(index >= 0, `${file} has no line with ${after}`)
  lines.splice(index + 1, 0, text.trimEnd())
  writeFileSync(path, lines.join('\n'))
}

function run(program: string, ...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { cwd: copy, maxBuffer: 1 << 24 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: `${stdout}${stderr}` }),
    )
  })
}

test('the documented steps add a family, a route, a command and a scorer that type-check and pass their tests', async () => {
  const blocks = readBlocks()
  assert.ok(blocks.length > 20, `only ${blocks.length} blocks found`)
  for (const block of blocks) applyBlock(block)
  // Several threads check shared types again and take twice the CPU time.
  const types = await run('node_modules/typescript/bin/tsc', '--singleThreaded')
  assert.is(types.code, 0, types.output)
  const files = blocks.filter((block) => block.file.endsWith('.test.ts') && block.after === undefined).map(({ file }) => file)
  // Bundled as in `npm test`: a compiler would load all sources for each of them.
  writeFileSync(
    join(copy, 'bundle.ts'),
    `import { bundleTests } from './scripts/tests.ts'\nawait bundleTests(${JSON.stringify(files)}, '.tests')\n`,
  )
  const bundled = await run('node_modules/tsx/dist/cli.mjs', 'bundle.ts')
  assert.is(bundled.code, 0, bundled.output)
  for (const file of files) {
    const { code, output } = await run(join('.tests', file.replace(/\.ts$/, '.js')))
    assert.is(code, 0, output)
    assert.match(output, /Passed: +[1-9]/)
  }
  const help = await run('bin/dev.js', 'bookmarks', 'resolve', '--help')
  assert.match(help.output, 'Print the URL of a bookmark.')
})

test.run()
