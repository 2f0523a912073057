/** Lines of the daemon's log: the last ones, those that follow, and how people read them. */
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { paint } from '../terminal/color.ts'
import { printable } from '../terminal/text.ts'

const BLOCK = 64 * 1024
const POLL_MS = 200

/** The last lines of a file, read from its end, and where reading has to go on. */
export async function lastLines(path: string, count: number): Promise<{ lines: string[]; end: number }> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    let start = size
    let bytes = Buffer.alloc(0)
    while (start > 0 && lineCount(bytes) <= count) {
      const from = Math.max(0, start - BLOCK)
      bytes = Buffer.concat([await readAt(file, from, start - from), bytes])
      start = from
    }
    const whole = bytes.toString('utf8').split('\n')
    const unfinished = Buffer.byteLength(whole.pop() ?? '')
    return { lines: count === 0 ? [] : whole.slice(-count), end: size - unfinished }
  } finally {
    await file.close()
  }
}

function lineCount(bytes: Buffer): number {
  let count = 0
  for (const byte of bytes) if (byte === 10) count++
  return count
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

/** Lines as they are written. A file that was turned over is read from its start. */
export async function* followLines(path: string, from: number): AsyncGenerator<string> {
  let position = from
  let rest = Buffer.alloc(0)
  let identity: number | undefined
  for (;;) {
    const file = await open(path).catch(() => undefined) // between two files of a turn-over there is none
    if (file) {
      try {
        const { size, ino } = await file.stat()
        if (size < position || (identity !== undefined && ino !== identity)) position = 0
        identity = ino
        const bytes = await readAt(file, position, size - position)
        position += bytes.length
        rest = Buffer.concat([rest, bytes])
      } finally {
        await file.close()
      }
    }
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      yield rest.subarray(0, end).toString('utf8')
      rest = rest.subarray(end + 1)
    }
    await wait(POLL_MS)
  }
}

const LEVEL_COLORS = { warn: 'yellow', error: 'red', fatal: 'red', debug: 'dim', trace: 'dim' } as const

/** A JSON line for people: time, level, text, then the rest as name=value. */
export function prettyLine(line: string, stream: NodeJS.WriteStream): string {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(line) as Record<string, unknown>
  } catch {
    return printable(line) // written by something that does not log as JSON
  }
  const { time, level, msg, pid, err, ...others } = fields
  const color = LEVEL_COLORS[String(level) as keyof typeof LEVEL_COLORS]
  const word = String(level ?? '')
    .toUpperCase()
    .padEnd(5)
  const rest = Object.entries(others).map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
  const stack = (err as { stack?: string } | undefined)?.stack
  const text = [
    String(time ?? '')
      .replace('T', ' ')
      .replace('Z', ''),
    color ? paint(color, word, stream) : word,
    printable(String(msg ?? '')),
  ]
  return `${text.join('  ')}${rest.length > 0 ? paint('dim', `  ${printable(rest.join(' '))}`, stream) : ''}${stack ? `\n${printable(stack)}` : ''}`
}
