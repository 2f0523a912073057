/** Reads, follows and formats the daemon log. */
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { paint } from '../terminal/color.ts'
import { sanitizeText } from '../terminal/text.ts'

const BLOCK_BYTES = 64 * 1024
const POLL_INTERVAL_MS = 200

/** Reads backwards from the end; `end` is the offset to follow from. */
export async function readLastLines(path: string, count: number): Promise<{ lines: string[]; end: number }> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    let start = size
    let bytes = Buffer.alloc(0)
    while (start > 0 && countLines(bytes) <= count) {
      const from = Math.max(0, start - BLOCK_BYTES)
      bytes = Buffer.concat([await readAt(file, from, start - from), bytes])
      start = from
    }
    const lines = bytes.toString('utf8').split('\n')
    const unfinished = Buffer.byteLength(lines.pop() ?? '')
    return { lines: count === 0 ? [] : lines.slice(-count), end: size - unfinished }
  } finally {
    await file.close()
  }
}

function countLines(bytes: Buffer): number {
  let count = 0
  for (const byte of bytes) if (byte === 10) count++
  return count
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

/** Yields lines as they are written. After a log rotation it starts over with the new file. */
export async function* followLines(path: string, from: number): AsyncGenerator<string> {
  let position = from
  let rest = Buffer.alloc(0)
  let identity: number | undefined
  for (;;) {
    const file = await open(path).catch(() => undefined) // missing during a log rotation
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
    await wait(POLL_INTERVAL_MS)
  }
}

const LEVEL_COLORS = { warn: 'yellow', error: 'red', fatal: 'red', debug: 'dim', trace: 'dim' } as const

/** Formats a JSON line as time, level, message and the other fields as name=value. */
export function formatLogLine(line: string, stream: NodeJS.WriteStream): string {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(line) as Record<string, unknown>
  } catch {
    return sanitizeText(line) // not a JSON log line
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
    sanitizeText(String(msg ?? '')),
  ]
  const details = rest.length > 0 ? paint('dim', `  ${sanitizeText(rest.join(' '))}`, stream) : ''
  return `${text.join('  ')}${details}${stack ? `\n${sanitizeText(stack)}` : ''}`
}
