/** Reads the question of `ask` from the arguments, the files they name with @, and stdin. */
import { fstatSync } from 'node:fs'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import { type AttachedDocument, type AttachedImage, attachFiles, type MessageWithFiles } from '../input/attachments.ts'
import type { InputReader } from '../input/input-reader.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

const MAX_MESSAGE_LENGTH: number = (conversationRoutes.send.body.properties.message as { maxLength?: number }).maxLength ?? 0
/** A UTF-8 character has at most four bytes. */
const MAX_STDIN_BYTES = MAX_MESSAGE_LENGTH * 4

/** How long to wait for stdin before a notice is printed. */
const SLOW_STDIN_MS = 2_000

/** Whether stdin is a pipe, file or socket, as opposed to a terminal, /dev/null or a closed stream. */
export function hasStdin(): boolean {
  if (process.stdin.isTTY) return false
  try {
    const stdin = fstatSync(0)
    return stdin.isFIFO() || stdin.isFile() || stdin.isSocket()
  } catch {
    return false // stdin is closed
  }
}

interface QuestionInput {
  words: readonly string[]
  reader: InputReader
  /** Whether stdin may be read. */
  stdin: boolean
  notify: (line: string) => void
  /** The command line before the question, for the example in the error. */
  command: string
}

export interface Question {
  /** The question alone. */
  text: string
  /** The question with its attached texts. */
  message: string
  images: AttachedImage[]
  /** Attached documents that the daemon reads. */
  documents: AttachedDocument[]
  /** Names of the attached files, and `stdin`. */
  attachments: string[]
  /** One sentence per word that looks like a file but does not name one. */
  missingFiles: string[]

  stdin: string
}

/** Combines the words, the files they name, and stdin. Without words, or with -, stdin is the question. */
export async function readQuestion({ words, reader, stdin, notify, command }: QuestionInput): Promise<Question> {
  const isDash = words.length === 1 && words[0] === '-'
  const question = isDash ? '' : words.join(' ').trim()
  if (isDash && !stdin) throw new UsageError('- cannot be combined with --no-stdin.')
  const readsStdin = isDash || (stdin && hasStdin())
  if (question === '' && !readsStdin) throw createMissingQuestionError(command)
  // Only arguments may name files: text from stdin is untrusted and must not select files.
  const { message, images, files, documents, missing: missingFiles } = attachMentionedFiles(question)
  const context = (readsStdin ? await readStdin(reader, notify) : '').trimEnd()
  if (question === '') return createQuestionFromStdin(context, command, true)
  const shared = { text: question, images, documents, missingFiles, stdin: context }
  if (context.trim() === '') return checkLength({ ...shared, message, attachments: files })
  const messageWithStdin = `${message}\n\n<stdin>\n${context}\n</stdin>`
  return checkLength({ ...shared, message: messageWithStdin, attachments: [...files, 'stdin'] })
}

export function createQuestionFromStdin(context: string, command: string, reads: boolean): Question {
  const text = context.trim()
  if (text === '') throw createMissingQuestionError(command, reads)
  return checkLength({ text, message: text, images: [], documents: [], attachments: [], missingFiles: [], stdin: context })
}

/** Calls process.cwd() only if needed, because it throws if the directory was deleted. */
function attachMentionedFiles(question: string): MessageWithFiles {
  if (!question.includes('@')) return { message: question, images: [], files: [], documents: [], missing: [] }
  return attachFiles(question, process.cwd())
}

function checkLength(question: Question): Question {
  if (question.message.length > MAX_MESSAGE_LENGTH) throw createTooLongError()
  return question
}

async function readStdin(reader: InputReader, notify: (line: string) => void): Promise<string> {
  const slow = setTimeout(() => notify('Waiting for stdin to end. Use --no-stdin to ignore it.'), SLOW_STDIN_MS)
  try {
    const bytes = await reader.readStdin('The question', MAX_STDIN_BYTES, createTooLongError)
    const text = bytes.toString('utf8')
    if (!isText(text)) throw new UsageError('Stdin is not text.', 'Add it as a document instead: cadre knowledge add FILE')
    return text
  } finally {
    clearTimeout(slow)
  }
}

/** Text in another encoding has a few replacement characters; binary data has many. */
function isText(text: string): boolean {
  const lost = text.match(/\ufffd/g)?.length ?? 0
  return !text.includes('\0') && lost <= text.length / 10
}

/** Callers may find that the question was given in place of something else. */
export class MissingQuestionError extends UsageError {}

/** `command` is the command line before the question. */
export function createMissingQuestionError(command: string, isStdinEmpty = false): MissingQuestionError {
  const problem = isStdinEmpty ? 'There is no question: stdin is empty.' : 'There is no question.'
  return new MissingQuestionError(problem, `For example: ${command} "How many days of leave do I have?"`)
}

function createTooLongError(): UsageError {
  return new UsageError(
    `The question with its attachments has more than ${MAX_MESSAGE_LENGTH.toLocaleString('en')} characters.`,
    'Send a part of it (tail -c 100000), or add it as a document: cadre knowledge add FILE',
  )
}
