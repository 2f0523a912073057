import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { transformSync } from 'esbuild'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { acquireLock } from '../../../daemon/process/lock.ts'

const test = suite<{ root: string; path: string; holders: ChildProcess[] }>('lock')

/** The lock as JavaScript: loading a TypeScript compiler in twenty processes would be slow. */
const LOCK_SOURCE = transformSync(readFileSync(new URL('../../../daemon/process/lock.ts', import.meta.url), 'utf8'), {
  loader: 'ts',
}).code.replace(/"libsql"/, JSON.stringify(import.meta.resolve('libsql')))

/** Prints held or refused, and holds the lock until its stdin ends. */
const HOLDER_SCRIPT = `
${LOCK_SOURCE}
process.stdin.once('data', () => {
  const lock = acquireLock(process.argv[1])
  console.log(lock ? 'held' : 'refused')
  process.stdin.once('end', () => lock?.release())
})
console.log('waiting')
`

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-lock-'))
  context.path = join(context.root, 'cadre.lock')
  context.holders = []
})
test.after.each(async ({ root, holders }) => {
  await Promise.all(holders.map(killHolder))
  rmSync(root, { recursive: true, force: true })
})

interface Holder {
  child: ChildProcess
  tryAcquire(): Promise<string>
}

async function startHolder(path: string, holders: ChildProcess[]): Promise<Holder> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', HOLDER_SCRIPT, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  holders.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return {
    child,
    async tryAcquire() {
      child.stdin.write('go\n')
      return String((await lines.next()).value)
    },
  }
}

async function killHolder(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

test('a second process cannot acquire the lock while the first one runs', async ({ path, holders }) => {
  const lock = acquireLock(path)
  assert.ok(lock)
  const other = await startHolder(path, holders)
  assert.is(await other.tryAcquire(), 'refused')
  lock.release()
  assert.is(await (await startHolder(path, holders)).tryAcquire(), 'held')
})

test('a second attempt in the same process fails and keeps the lock', async ({ path, holders }) => {
  const lock = acquireLock(path)
  assert.is(acquireLock(path), undefined)
  assert.is(await (await startHolder(path, holders)).tryAcquire(), 'refused')
  lock?.release()
  lock?.release()
})

test('kill -9 of the holder releases the lock and leaves no journal', async ({ root, path, holders }) => {
  for (let round = 0; round < 3; round++) {
    const victim = await startHolder(path, holders)
    assert.is(await victim.tryAcquire(), 'held')
    await killHolder(victim.child)
    const lock = acquireLock(path)
    assert.ok(lock, 'it was still held')
    lock.release()
    assert.equal(readdirSync(root), ['cadre.lock'])
  }
})

test('exactly one of 20 simultaneous processes acquires the lock', async ({ path, holders }) => {
  const contenders = await Promise.all(Array.from({ length: 20 }, () => startHolder(path, holders)))
  const answers = await Promise.all(contenders.map((contender) => contender.tryAcquire()))
  assert.is(answers.filter((answer) => answer === 'held').length, 1)
  assert.is(answers.filter((answer) => answer === 'refused').length, 19)
})

test('a lock file that cannot be created is an error', ({ root }) => {
  assert.throws(() => acquireLock(join(root, 'nowhere', 'cadre.lock')), /cannot acquire|unable to open/i)
})

test.run()
