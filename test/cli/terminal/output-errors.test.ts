/** Output that cannot be written, and homes that cannot: a sentence and an exit code, never a stack trace. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toFailure } from '../../../src/cli/terminal/errors.ts'
import { openTerminal } from '../../harness/cli.ts'

const RUN = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))
const test = suite('output that cannot be written')

/** Runs a command that needs no daemon with its stdout at a file. */
async function into(path: string, words: readonly string[]): Promise<{ code: number; stderr: string }> {
  const home = mkdtempSync(join(tmpdir(), 'cadre-output-'))
  const output = openSync(path, 'w')
  try {
    const child = spawn(process.execPath, [RUN, ...words], {
      env: { PATH: process.env.PATH, CADRE_HOME: home },
      stdio: ['ignore', output, 'pipe'],
    })
    let stderr = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const [code] = (await once(child, 'close')) as [number]
    return { code, stderr }
  } finally {
    closeSync(output)
    rmSync(home, { recursive: true, force: true })
  }
}

test('a full disk under stdout is told in one sentence', async () => {
  if (!existsSync('/dev/full')) return
  for (const words of [['config', 'list'], ['--help'], ['autocomplete', 'bash']]) {
    const { code, stderr } = await into('/dev/full', words)
    assert.is(code, 1, words.join(' '))
    assert.match(stderr, 'The output cannot be written: there is no space left on the disk.')
    assert.not.match(stderr, /\bat .*:\d+:\d+/)
  }
})

test('a reader that has seen enough ends the command without a word', async () => {
  const child = spawn(process.execPath, [RUN, 'autocomplete', 'bash'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const [code] = (await once(child, 'close')) as [number]
  assert.equal([code, stderr], [0, ''])
})

test('a home below a file is told, by commands and by the doctor', async () => {
  const terminal = openTerminal()
  const file = join(terminal.home, '..', 'file')
  writeFileSync(file, '')
  try {
    for (const home of [file, join(file, 'home')]) {
      for (const words of [
        ['agents', 'list'],
        ['config', 'set', 'output', 'json'],
      ]) {
        const { code, stderr } = await terminal.run(words, { environment: { CADRE_HOME: home } })
        assert.is(code, 1, stderr)
        assert.match(stderr, /cannot be (written|opened): a part of the path is a file/)
        assert.match(stderr, 'cadre doctor')
      }
      const doctor = await terminal.run(['doctor'], { environment: { CADRE_HOME: home } })
      assert.is(doctor.code, 1)
      assert.match(doctor.stdout, /✗ home .* a file/)
    }
  } finally {
    await terminal.close()
  }
})

test('what the operating system refuses is told in words, with the path', () => {
  const refused = (code: string, syscall: string) =>
    toFailure(Object.assign(new Error(`${code}: no, ${syscall} '/home/x'`), { code, syscall, path: '/home/x' }))
  assert.is(refused('EROFS', 'mkdir').error, '/home/x cannot be written: its file system is read-only (EROFS).')
  assert.is(refused('EACCES', 'open').error, '/home/x cannot be opened: this user may not (EACCES).')
  assert.is(refused('ENOSPC', 'open').error, '/home/x cannot be written: there is no space left on its disk (ENOSPC).')
  assert.is(refused('EWHAT', 'open').error, "EWHAT: no, open '/home/x'")
  assert.equal(refused('EROFS', 'mkdir').exitCode, 1)
})

test.run()
