/** What /copy reports, by terminal and system. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { copyToClipboard } from '../../../src/tui/commands/clipboard.ts'

const test = suite('clipboard')

async function copy(text: string, environment: NodeJS.ProcessEnv, platform: NodeJS.Platform = 'linux') {
  let written = ''
  const terminal = new Writable({
    write(chunk: Buffer, _, done) {
      written += chunk.toString()
      done()
    },
  }) as unknown as NodeJS.WriteStream
  return { ...(await copyToClipboard(text, { terminal, environment, platform })), written }
}

test('without a program, the text is sent to the terminal, which does not tell whether it accepts it', async () => {
  for (const [environment, platform] of [
    [{ TERM: 'xterm-256color' }, 'linux'],
    [{ TERM: 'xterm-kitty', SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22', DISPLAY: ':0' }, 'darwin'],
  ] as const) {
    const { outcome, note, written } = await copy('Grüße', environment, platform)
    assert.equal([outcome, written], ['unknown', `\u001b]52;c;${Buffer.from('Grüße').toString('base64')}\u0007`])
    assert.match(note, 'may ignore it')
  }
})

test('in GNU screen, the sequence is passed through in pieces', async () => {
  const { written } = await copy('x'.repeat(500), { TERM: 'screen', STY: '1.pts-0' })
  assert.match(written, /^(\u001bP[^\u001b]?[\s\S]{1,200}?\u001b\\)+$/)
  assert.is(written.replaceAll(/\u001bP|\u001b\\/g, ''), `\u001b]52;c;${Buffer.from('x'.repeat(500)).toString('base64')}\u0007`)
})

test('terminals that cannot set the clipboard and long texts fail, and nothing is written', async () => {
  for (const [text, environment] of [
    ['x', {}],
    ['x', { TERM: 'dumb' }],
    ['x', { TERM: 'linux' }],
    ['x', { TERM: 'xterm-256color', TERM_PROGRAM: 'Apple_Terminal', SSH_CONNECTION: '1' }],
    ['x'.repeat(200_000), { TERM: 'xterm' }],
  ] as const) {
    const { outcome, written } = await copy(text, environment)
    assert.equal([outcome, written], ['failed', ''])
  }
})

test('a program of the desktop copies the text', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-clipboard-'))
  const path = process.env.PATH
  try {
    writeFileSync(join(folder, 'wl-copy'), `#!/bin/sh\nexec cat > '${folder}/copied'\n`)
    chmodSync(join(folder, 'wl-copy'), 0o755)
    process.env.PATH = `${folder}:${path}`
    const { outcome, written } = await copy('From the desktop', { TERM: 'xterm', WAYLAND_DISPLAY: 'wayland-0' })
    assert.equal([outcome, written, readFileSync(join(folder, 'copied'), 'utf8')], ['copied', '', 'From the desktop'])
  } finally {
    process.env.PATH = path
    rmSync(folder, { recursive: true })
  }
})

test.run()
