/** What `ask` is asked: words of the command, and what stands on stdin. */
import { fstatSync } from 'node:fs'
import { conversationRoutes } from '../contract/conversations.ts'
import { UsageError } from './failure.ts'
import type { InputReader } from './input.ts'

/** As many characters as a message may have. */
const LONGEST: number = (conversationRoutes.send.body.properties.message as { maxLength?: number }).maxLength ?? 0
/** A character takes at most four bytes. */
const MOST_BYTES = LONGEST * 4

/** Long enough for a command before the pipe that has something to say. */
const PATIENCE_MS = 2_000

/** Whether somebody put something on stdin: a pipe or a file, not a terminal, /dev/null or nothing at all. */
export function stdinGiven(): boolean {
  if (process.stdin.isTTY) return false
  try {
    const stdin = fstatSync(0)
    return stdin.isFIFO() || stdin.isFile() || stdin.isSocket()
  } catch {
    return false // it is closed
  }
}

export interface Asked {
  words: readonly string[]
  reader: InputReader
  /** Whether stdin may be read. */
  stdin: boolean
  narrate: (line: string) => void
}

/** The message: the words, and below them what came on stdin. Without words, or with -, stdin is the question itself. */
export async function messageFrom({ words, reader, stdin, narrate }: Asked): Promise<string> {
  const dash = words.length === 1 && words[0] === '-'
  const question = dash ? '' : words.join(' ').trim()
  if (dash && !stdin) throw new UsageError('- reads the question from stdin, which --no-stdin forbids.')
  const reads = dash || (stdin && stdinGiven())
  if (question === '' && !reads) throw new UsageError('There is no question.', 'For example: cadre ask "How many days of leave do I have?"')
  const context = reads ? await contextFrom(reader, narrate) : ''
  const message = question === '' ? context.trim() : context.trim() === '' ? question : `${question}\n\n<stdin>\n${context.trimEnd()}\n</stdin>`
  if (message === '') throw new UsageError('The question is empty.')
  if (message.length > LONGEST) throw tooLong()
  return message
}

async function contextFrom(reader: InputReader, narrate: (line: string) => void): Promise<string> {
  const slow = setTimeout(() => narrate('Reading stdin until it ends; --no-stdin leaves it alone.'), PATIENCE_MS)
  try {
    const bytes = await reader.bytes('The question', MOST_BYTES, tooLong)
    const text = bytes.toString('utf8')
    if (!isText(text)) throw new UsageError('Stdin is not text.', 'Add it as a document instead: cadre knowledge add FILE')
    return text
  } finally {
    clearTimeout(slow)
  }
}

/** A log in an older encoding has some characters that are lost; a picture has little else. */
function isText(text: string): boolean {
  const lost = text.match(/\ufffd/g)?.length ?? 0
  return !text.includes('\0') && lost <= text.length / 10
}

function tooLong(): UsageError {
  return new UsageError(
    `Stdin and the question hold more than ${LONGEST.toLocaleString('en')} characters, which is more than a message may.`,
    'Send a part of it (tail -c 100000), or let an agent search it: cadre knowledge add FILE',
  )
}
