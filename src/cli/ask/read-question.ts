/** What `ask` is asked: words of the command, the files they name, and what stands on stdin. */
import { fstatSync } from 'node:fs'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import { type Attached, AttachmentError, withFiles } from '../input/attachments.ts'
import type { InputReader } from '../input/input-reader.ts'
import { UsageError } from '../terminal/errors.ts'
import { createMissingQuestionError } from './missing-question.ts'

/** As many characters as a message may have. */
const MAX_MESSAGE_LENGTH: number = (conversationRoutes.send.body.properties.message as { maxLength?: number }).maxLength ?? 0
/** A character takes at most four bytes. */
const MAX_STDIN_BYTES = MAX_MESSAGE_LENGTH * 4

/** Long enough for a command before the pipe that has something to say. */
const SLOW_STDIN_MS = 2_000

/** Whether somebody put something on stdin: a pipe or a file, not a terminal, /dev/null or nothing at all. */
export function hasStdin(): boolean {
  if (process.stdin.isTTY) return false
  try {
    const stdin = fstatSync(0)
    return stdin.isFIFO() || stdin.isFile() || stdin.isSocket()
  } catch {
    return false // it is closed
  }
}

export interface QuestionInput {
  words: readonly string[]
  reader: InputReader
  /** Whether stdin may be read. */
  stdin: boolean
  narrate: (line: string) => void
  /** The command as far as a question would follow it. */
  command: string
}

export interface Question {
  /** What is asked. */
  text: string
  /** What is sent: the question with all that goes along. */
  message: string
  /** What goes along: files by their names, and stdin. */
  attachments: string[]
  /** What looks like a file and is none, each in a sentence. */
  missingFiles: string[]
  /** What came on stdin. */
  stdin: string
}

/** The words, below them the files that they name, and what came on stdin. Without words, or with -, stdin is the question itself. */
export async function readQuestion({ words, reader, stdin, narrate, command }: QuestionInput): Promise<Question> {
  const dash = words.length === 1 && words[0] === '-'
  const question = dash ? '' : words.join(' ').trim()
  if (dash && !stdin) throw new UsageError('- reads the question from stdin, which --no-stdin forbids.')
  const reads = dash || (stdin && hasStdin())
  if (question === '' && !reads) throw createMissingQuestionError(command)
  // Only words that somebody typed here name files: a text from elsewhere has no say in what is read.
  const attached = attachFiles(question)
  const context = (reads ? await readStdin(reader, narrate) : '').trimEnd()
  if (question === '') return createQuestionFromStdin(context, command, true)
  const { message, files, missing } = attached
  if (context.trim() === '') return checkLength({ text: question, message, attachments: files, missingFiles: missing, stdin: context })
  return checkLength({
    text: question,
    message: `${message}\n\n<stdin>\n${context}\n</stdin>`,
    attachments: [...files, 'stdin'],
    missingFiles: missing,
    stdin: context,
  })
}

/** What came on stdin is the question itself. */
export function createQuestionFromStdin(context: string, command: string, reads: boolean): Question {
  const text = context.trim()
  if (text === '') throw createMissingQuestionError(command, reads)
  return checkLength({ text, message: text, attachments: [], missingFiles: [], stdin: context })
}

/** Where this stands is asked only if it matters: its folder may be gone. */
function attachFiles(question: string): Attached {
  if (!question.includes('@')) return { message: question, files: [], missing: [] }
  try {
    return withFiles(question, process.cwd())
  } catch (error) {
    throw error instanceof AttachmentError ? new UsageError(error.message) : error
  }
}

function checkLength(question: Question): Question {
  if (question.message.length > MAX_MESSAGE_LENGTH) throw createTooLongError()
  return question
}

async function readStdin(reader: InputReader, narrate: (line: string) => void): Promise<string> {
  const slow = setTimeout(() => narrate('Reading stdin until it ends; --no-stdin leaves it alone.'), SLOW_STDIN_MS)
  try {
    const bytes = await reader.bytes('The question', MAX_STDIN_BYTES, createTooLongError)
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

function createTooLongError(): UsageError {
  return new UsageError(
    `The question and what goes along hold more than ${MAX_MESSAGE_LENGTH.toLocaleString('en')} characters, which is more than a message may.`,
    'Send a part of it (tail -c 100000), or let an agent search it: cadre knowledge add FILE',
  )
}
