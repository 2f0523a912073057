/** Copies text to the clipboard through a system program or the terminal (OSC 52). */
import { spawn } from 'node:child_process'

/** Terminals ignore longer sequences. */
const MAX_OSC52_LENGTH = 74_000

/** Returns whether the text was handed over; terminals do not acknowledge it. */
export async function copyToClipboard(
  text: string,
  terminal: NodeJS.WriteStream,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  if (platform === 'darwin') return pipeTo('pbcopy', text)
  if (platform === 'win32') return pipeTo('clip', text)
  const encoded = Buffer.from(text, 'utf8').toString('base64')
  if (encoded.length > MAX_OSC52_LENGTH) return false
  terminal.write(`\u001b]52;c;${encoded}\u0007`)
  return true
}

function pipeTo(program: string, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, [], { stdio: ['pipe', 'ignore', 'ignore'] })
    child.once('error', () => resolve(false)).once('close', (code) => resolve(code === 0))
    child.stdin.on('error', () => resolve(false)).end(text)
  })
}
