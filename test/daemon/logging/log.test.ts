import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openLog } from '../../../daemon/logging/log.ts'
import { Redactor } from '../../../daemon/secrets/redactor.ts'

const test = suite<{ root: string; path: string }>('log')
/** /dev/full fails every write with ENOSPC. */
const withFullDevice = existsSync('/dev/full') ? test : test.skip

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-log-'))
  context.path = join(context.root, 'daemon.log')
})
test.after.each(({ root }) => rmSync(root, { recursive: true, force: true }))

interface Line {
  level: string
  msg: string
  n?: number
}

const readLines = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
const openTestLog = (path: string, more: { fileBytes?: number; redactor?: Redactor; echo?: (line: string) => void } = {}) =>
  openLog({ path, level: 'info', redactor: new Redactor(), ...more })

test('the log is JSON lines in a private file, complete after close', ({ path }) => {
  const log = openTestLog(path)
  for (let n = 0; n < 1000; n++) log.logger.info({ n }, 'counted')
  log.logger.debug('not at this level')
  log.close()
  const lines = readLines(path)
  assert.equal(
    lines.map(({ n }) => n),
    Array.from({ length: 1000 }, (_, n) => n),
  )
  assert.is(lines[0]?.level, 'info')
  assert.is(statSync(path).mode & 0o777, 0o600)
})

test('a warning is on disk before the call returns', ({ path }) => {
  const log = openTestLog(path)
  log.logger.info('waits')
  assert.not(existsSync(path))
  log.logger.error('does not')
  assert.equal(
    readLines(path).map(({ msg }) => msg),
    ['waits', 'does not'],
  )
  log.close()
})

test('an existing log file is appended to', ({ path }) => {
  for (const msg of ['one', 'two']) {
    const log = openTestLog(path)
    log.logger.info(msg)
    log.close()
  }
  assert.equal(
    readLines(path).map(({ msg }) => msg),
    ['one', 'two'],
  )
})

test('log files rotate by size, keep five files and lose no line', ({ root, path }) => {
  const log = openTestLog(path, { fileBytes: 200_000 })
  const amount = 9000
  for (let n = 0; n < amount; n++) log.logger.info({ n }, 'a line of about a hundred bytes'.padEnd(60, '.'))
  log.close()
  const names = ['daemon.log.4', 'daemon.log.3', 'daemon.log.2', 'daemon.log.1', 'daemon.log']
  assert.equal(readdirSync(root).sort(), [...names].sort())
  for (const name of names) {
    const { size, mode } = statSync(join(root, name))
    assert.ok(size <= 200_000, `${name} has ${size} bytes`)
    assert.is(mode & 0o777, 0o600)
  }
  const numbers = names.flatMap((name) => readLines(join(root, name)).map(({ n }) => n as number))
  const first = numbers[0] as number
  assert.ok(first > 0, 'no lines were rotated out')
  assert.equal(
    numbers,
    Array.from({ length: amount - first }, (_, index) => first + index),
  )
})

test('a log file that was moved away is created again', ({ path }) => {
  const log = openTestLog(path)
  log.logger.warn('before')
  renameSync(path, `${path}.away`)
  log.logger.warn('after')
  log.close()
  assert.equal(
    readLines(path).map(({ msg }) => msg),
    ['after'],
  )
  assert.equal(
    readLines(`${path}.away`).map(({ msg }) => msg),
    ['before'],
  )
})

withFullDevice('a full disk drops log lines, which are counted, but does not stop the process', ({ path }) => {
  symlinkSync('/dev/full', path)
  const log = openTestLog(path)
  for (let n = 0; n < 7; n++) log.logger.warn({ n }, 'nowhere to go')
  rmSync(path)
  log.logger.warn('there is space again')
  log.logger.warn('and still')
  log.close()
  const messages = readLines(path).map(({ msg }) => msg)
  assert.is(messages.length, 3)
  assert.match(messages[0] ?? '', /^7 log lines were dropped: ENOSPC/)
  assert.equal(messages.slice(1), ['there is space again', 'and still'])
})

test('a disk that fills up during a batch leaves only complete lines', ({ path }) => {
  // Simulated by a file size limit: the write that exceeds it is partial, the next one fails.
  const writer = `
    import { openLog } from '${new URL('../../../daemon/logging/log.ts', import.meta.url).href}'
    import { Redactor } from '${new URL('../../../daemon/secrets/redactor.ts', import.meta.url).href}'
    process.on('SIGXFSZ', () => {})
    const log = openLog({ path: ${JSON.stringify(path)}, level: 'info', redactor: new Redactor() })
    for (let n = 0; n < 3000; n++) log.logger.info({ n }, 'x'.repeat(100))
    log.close()
    console.log('alive')
  `
  const output = execFileSync(
    'bash',
    ['-c', 'ulimit -f 100; exec "$0" "$@"', process.execPath, '--import', import.meta.resolve('tsx'), '--input-type=module', '-e', writer],
    { encoding: 'utf8', env: { ...process.env, TSX_DISABLE_CACHE: '1' } },
  )
  assert.is(output.trim(), 'alive')
  const numbers = readLines(path).map(({ n }) => n)
  assert.ok(numbers.length > 100 && numbers.length < 3000, `${numbers.length} lines`)
})

test('secrets in messages, objects, errors and URLs are redacted from the file and the terminal', ({ path }) => {
  const secret = 'sk-canary/"é+\\0123456789'
  const redactor = new Redactor()
  redactor.add(secret)
  let echoed = ''
  const log = openTestLog(path, {
    redactor,
    echo: (line) => {
      echoed += line
    },
  })
  log.logger.info(`key ${secret}`)
  log.logger.info({ headers: { 'x-api-key': secret }, nested: JSON.stringify({ secret }) }, 'object')
  log.logger.info({ url: `https://example.test/?key=${encodeURIComponent(secret)}` }, new URLSearchParams({ secret }).toString())
  log.logger.error(
    { err: new Error(`refused ${secret}`, { cause: new Error(Buffer.from(`user:${secret}`).toString('base64')) }) },
    'failed',
  )
  log.close()
  for (const text of [readFileSync(path, 'utf8'), echoed]) {
    assert.not.match(text, 'canary')
    assert.not.match(text, '0123456789')
    assert.not.match(text, Buffer.from(`user:${secret}`).toString('base64').slice(8, 24))
  }
  assert.is(readLines(path).length, 4)
})

test('a line stays valid JSON when a secret is part of a number', ({ path }) => {
  const redactor = new Redactor()
  redactor.add('123456')
  const log = openTestLog(path, { redactor })
  log.logger.info({ n: 9123456789 }, 'counted')
  log.close()
  assert.not.match(readFileSync(path, 'utf8'), '123456')
  assert.match(readLines(path)[0]?.msg ?? '', 'counted')
})

test.run()
