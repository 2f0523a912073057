/** Unwritable output and homes are reported with a message and an exit code, never a stack trace. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toFailure } from '../../../src/cli/terminal/failures/describe-failure.ts'
import { openTerminal } from '../../harness/cli.ts'

const RUN = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))
const test = suite('output errors')

/** Runs a command that needs no daemon, with stdout redirected to a file. */
async function runInto(path: string, words: readonly string[]): Promise<{ code: number; stderr: string }> {
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

const withFullDevice = existsSync('/dev/full') ? test : test.skip
withFullDevice('a full disk behind stdout is reported in one sentence', async () => {
  for (const words of [['config', 'list'], ['--help'], ['autocomplete', 'bash']]) {
    const { code, stderr } = await runInto('/dev/full', words)
    assert.is(code, 1, words.join(' '))
    assert.match(stderr, 'The output cannot be written: no space left on the disk.')
    assert.not.match(stderr, /\bat .*:\d+:\d+/)
  }
})

test('a closed stdout ends the command silently', async () => {
  const child = spawn(process.execPath, [RUN, 'autocomplete', 'bash'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const [code] = (await once(child, 'close')) as [number]
  assert.equal([code, stderr], [0, ''])
})

test('a home below a file is reported by commands and by doctor', async () => {
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

test('system errors are reported with the path and a readable reason', () => {
  const fail = (code: string, syscall: string) =>
    toFailure(Object.assign(new Error(`${code}: no, ${syscall} '/home/x'`), { code, syscall, path: '/home/x' }))
  assert.is(fail('EROFS', 'mkdir').error, '/home/x cannot be written: the file system is read-only (EROFS).')
  assert.is(fail('EACCES', 'open').error, '/home/x cannot be opened: permission denied (EACCES).')
  assert.is(fail('ENOSPC', 'open').error, '/home/x cannot be written: no space left on the disk (ENOSPC).')
  assert.is(fail('EWHAT', 'open').error, "EWHAT: no, open '/home/x'")
  assert.equal(fail('EROFS', 'mkdir').exitCode, 1)
})

test.run()
