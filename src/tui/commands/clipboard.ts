/** Copies text to the clipboard: with a program of the system, through tmux, or with an escape sequence of the terminal. */
import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { scaleTimeout } from '../../deadline.ts'
import type { CopyResult } from '../session/chat-session.ts'

/** Larger texts are ignored by some terminals. */
const MAX_OSC52_LENGTH = 100_000
const TIMEOUT_MS = 5_000

interface ClipboardOptions {
  terminal: NodeJS.WriteStream
  environment: NodeJS.ProcessEnv
  platform?: NodeJS.Platform
}

export async function copyToClipboard(
  text: string,
  { terminal, environment, platform = process.platform }: ClipboardOptions,
): Promise<CopyResult> {
  for (const [program, ...args] of listPrograms(environment, platform))
    if (program !== undefined && (await pipeTo(program, args, text)))
      return { outcome: 'copied', note: 'Copied the last reply to the clipboard.' }
  if (environment.TMUX) return copyThroughTmux(text)
  return sendToTerminal(text, terminal, environment)
}

/** A program on a remote machine would set the clipboard of that machine. */
function listPrograms({ WAYLAND_DISPLAY, DISPLAY, SSH_CONNECTION }: NodeJS.ProcessEnv, platform: NodeJS.Platform): string[][] {
  if (SSH_CONNECTION) return []
  if (platform === 'darwin') return [['pbcopy']]
  if (platform === 'win32') return [['clip']]
  return [
    ...(WAYLAND_DISPLAY ? [['wl-copy']] : []),
    ...(DISPLAY
      ? [
          ['xclip', '-selection', 'clipboard'],
          ['xsel', '--clipboard', '--input'],
        ]
      : []),
  ]
}

/**
 * tmux ignores the escape sequence of a program unless set-clipboard is on, so the text is loaded into a buffer. With -w (tmux 3.2), tmux
 * also sends it to the terminal, unless set-clipboard is off.
 */
async function copyThroughTmux(text: string): Promise<CopyResult> {
  const paste = 'To paste it in tmux: prefix ]'
  const setting = (await readFrom('tmux', ['show-options', '-sv', 'set-clipboard']))?.trim()
  if (setting !== 'off' && (await pipeTo('tmux', ['load-buffer', '-w', '-'], text)))
    return {
      outcome: 'unknown',
      note: `Copied the last reply to the tmux buffer, and sent it to the terminal, which may ignore it. ${paste}`,
    }
  if (await pipeTo('tmux', ['load-buffer', '-'], text))
    return {
      outcome: 'copied',
      note: `Copied the last reply to the tmux buffer only${setting === 'off' ? ', because set-clipboard is off' : ''}. ${paste}`,
    }
  return { outcome: 'failed', note: 'tmux did not accept the text.' }
}

/** OSC 52. Terminals do not answer it, and some ask the user or ignore it. */
function sendToTerminal(text: string, terminal: NodeJS.WriteStream, { TERM = '', TERM_PROGRAM, STY }: NodeJS.ProcessEnv): CopyResult {
  if (TERM === '' || TERM === 'dumb' || TERM === 'linux' || TERM_PROGRAM === 'Apple_Terminal')
    return { outcome: 'failed', note: 'This terminal does not let programs use the clipboard.' }
  const encoded = Buffer.from(text, 'utf8').toString('base64')
  if (encoded.length > MAX_OSC52_LENGTH) return { outcome: 'failed', note: 'The reply is too long for the clipboard of a terminal.' }
  const sequence = `\u001b]52;c;${encoded}\u0007`
  // GNU screen passes on only what is wrapped, in pieces.
  terminal.write(STY ? (sequence.match(/.{1,200}/gs) ?? []).map((piece) => `\u001bP${piece}\u001b\\`).join('') : sequence)
  return { outcome: 'unknown', note: 'Sent the last reply to the clipboard of the terminal (OSC 52), which may ignore it.' }
}

function pipeTo(program: string, args: readonly string[], text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'], timeout: scaleTimeout(TIMEOUT_MS) })
    child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0))
    child.stdin.on('error', () => resolve(false)).end(text)
  })
}

async function readFrom(program: string, args: readonly string[]): Promise<string | undefined> {
  const { stdout } = await promisify(execFile)(program, args, { timeout: scaleTimeout(TIMEOUT_MS) }).catch(() => ({ stdout: undefined }))
  return stdout
}
