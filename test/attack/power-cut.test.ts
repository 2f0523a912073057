import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { canRecord, createRecorder, readCalls } from '../../attack/support/power-cut/recorded-calls.ts'
import { UnreliableDisk } from '../../attack/support/power-cut/unreliable-disk.ts'

const cuts = suite('simulated power cuts')
const test = canRecord() ? cuts : cuts.skip
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-power-cut-')))
const disk = join(folder, 'disk')

cuts.before.each(() => {
  rmSync(disk, { recursive: true, force: true })
  mkdirSync(disk)
  writeFileSync(join(disk, 'old'), 'old')
})
cuts.after(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a program that writes to the disk, then cuts the power. */
async function cutAfter(program: string, random: () => number): Promise<string[]> {
  const recording = join(folder, 'calls')
  const before = UnreliableDisk.load(disk)
  const [strace = '', ...words] = createRecorder(recording)
  const { status, stderr } = spawnSync(strace, [...words, process.execPath, '-e', `const fs = require('fs'); ${program}`], {
    cwd: disk,
    encoding: 'utf8',
  })
  assert.is(status, 0, stderr)
  before.replay(await readCalls(recording))
  assert.equal(before.compare(), [])
  before.cut(random)
  return readdirSync(disk).sort()
}

const loseEverything = () => 0
const keepEverything = () => 0.999

const SYNC_DIRECTORY = `fs.fsyncSync(fs.openSync(process.cwd(), 'r'))`
const WRITE = `const file = fs.openSync(process.cwd() + '/new', 'w'); fs.writeSync(file, 'new'); fs.writeSync(file, 'er')`

cuts('a call whose process was killed may have had its effect, however strace ends its line', async () => {
  const recording = join(folder, 'calls')
  const call = 'pwrite64(5</home/cadre.db-wal>, "\\x61", 1, 0'
  const badResult = '= -1 (errno 18446744073709551548)'
  const ends = [
    ' <unfinished ...>) = ?',
    ` <unfinished ...>) ${badResult}`,
    ' <detached ...>',
    ' <unfinished ...>',
    `) ${badResult}`,
    ') = ? <unavailable>',
  ]
  const lines = ends.map((end, index) => `${index + 1} ${call}${end}`)
  writeFileSync(recording, [...lines, `9 ${call} <unfinished ...>`, '9 <... pwrite64 resumed>) = 1', ''].join('\n'))
  const calls = await readCalls(recording)
  assert.equal(
    calls.map(({ process, result, descriptors: [file] }) => [process, result, file?.path]).sort(),
    [1, 2, 3, 4, 5, 6, 9].map((process) => [process, process === 9 ? 1 : undefined, '/home/cadre.db-wal']),
  )
})

test('a file is lost unless it and its name were flushed', async () => {
  assert.equal(await cutAfter(`${WRITE}; fs.fsyncSync(file)`, loseEverything), ['old'])
  assert.equal(await cutAfter(`${WRITE}; ${SYNC_DIRECTORY}`, loseEverything), ['new', 'old'])
  assert.is(readFileSync(join(disk, 'new'), 'utf8'), '')
  assert.equal(await cutAfter(`${WRITE}; fs.fsyncSync(file); ${SYNC_DIRECTORY}`, loseEverything), ['new', 'old'])
  assert.is(readFileSync(join(disk, 'new'), 'utf8'), 'newer')
})

test('what was written after a flush is lost', async () => {
  await cutAfter(`${WRITE}; fs.fsyncSync(file); ${SYNC_DIRECTORY}; fs.writeSync(file, ' lost'); fs.ftruncateSync(file, 3)`, loseEverything)
  assert.is(readFileSync(join(disk, 'new'), 'utf8'), 'newer')
})

test('a rename and a removal are undone unless the directory was flushed', async () => {
  const rename = `fs.renameSync(process.cwd() + '/old', process.cwd() + '/renamed')`
  assert.equal(await cutAfter(rename, loseEverything), ['old'])
  assert.equal(await cutAfter(`${rename}; ${SYNC_DIRECTORY}`, loseEverything), ['renamed'])
  assert.equal(await cutAfter(`fs.unlinkSync(process.cwd() + '/renamed')`, loseEverything), ['renamed'])
})

test('a disk that kept everything has what the program wrote', async () => {
  const program = `${WRITE}; fs.mkdirSync(process.cwd() + '/folder'); fs.appendFileSync(process.cwd() + '/old', 'er')`
  assert.equal(await cutAfter(program, keepEverything), ['folder', 'new', 'old'])
  assert.is(readFileSync(join(disk, 'old'), 'utf8'), 'older')
  assert.ok(existsSync(join(disk, 'folder')))
})

cuts.run()
