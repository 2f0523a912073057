/** The recipes of the guide to servers: the units are verified by systemd, the commands of the container run against a daemon. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../harness/daemon.ts'

const test = suite('guide to servers')
const guide = readFileSync(new URL('../../docs/guides/server.md', import.meta.url), 'utf8')
const listBlocks = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text = '']) => text)
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-server-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const testUnits = hasSystemd ? test : test.skip
testUnits('systemd accepts the units', () =>
  withFolder(async (folder) => {
    const units = listBlocks('ini').map((text) => {
      const file = join(folder, /^# (\S+)/.exec(text)?.[1] ?? '')
      // systemd also checks that the programs exist.
      writeFileSync(file, text.replaceAll('/usr/bin/cadre', process.execPath).replaceAll('/usr/bin/curl', '/bin/sh'))
      return file
    })
    assert.is(units.length, 3)
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], { encoding: 'utf8' })
    const complaints = stderr.split('\n').filter((line) => line.includes(folder))
    assert.equal([status, complaints], [0, []], stderr)
  }),
)

test('the container starts the daemon as shown, and its health check tells whether it responds', () =>
  withFolder(async (folder) => {
    const [dockerfile = ''] = listBlocks('dockerfile')
    const parse = (pattern: RegExp): string[] => JSON.parse(pattern.exec(dockerfile)?.[1] ?? '[]')
    const [program, ...health] = parse(/HEALTHCHECK[^\n]*\\\n\s*CMD (\[.*\])$/m)
    const [command, topic, verb, ...options] = parse(/^CMD (\[.*\])$/m)
    assert.equal([program, command, topic, verb], ['node', 'cadre', 'daemon', 'run'])
    const daemon = await startDaemon(join(folder, 'home'), { arguments: ['--foreground', ...options, '--port', '0'] })
    const check = () =>
      spawnSync(
        process.execPath,
        health.map((word) => word.replace('http://127.0.0.1:7411', daemon.url)),
      ).status
    assert.is(check(), 0)
    await daemon.stop()
    assert.is(check(), 1)
  }))

test.run()
