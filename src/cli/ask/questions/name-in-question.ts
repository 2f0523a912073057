/** Reports a question that starts with the name of a second tool or agent. */
import type { Connection } from '../../../client/request.ts'
import { hasResource } from '../../resources/resolve-references.ts'
import type { Topic } from '../../resources/topic.ts'
import { UsageError } from '../../terminal/failures/command-errors.ts'
import { quoteShellWord } from '../../terminal/shell-quote.ts'
import { sanitizeLine } from '../../terminal/text.ts'

interface NamedQuestion {
  /** The name before the question. */
  name: string
  /** The arguments of the question. */
  words: readonly string[]
  /** The command line before the name. */
  command: string
}

/** A quoted question may start with any name. Throws if the first of several words is the name of another resource. */
export async function rejectSecondName(connection: Connection, topic: Topic, { name, words, command }: NamedQuestion): Promise<void> {
  const [first = '', ...rest] = words
  if (rest.length === 0 || first === name || !(await hasResource(connection, topic, first))) return
  const question = quoteShellWord(rest.join(' '))
  const whole = quoteShellWord(words.join(' '))
  throw new UsageError(
    `"${sanitizeLine(first)}" is the name of another ${topic.family.noun}.`,
    `To ask it: ${command} ${quoteShellWord(first)} ${question}\n` +
      `If it is part of the question, quote the question: ${command} ${quoteShellWord(name)} ${whole}`,
  )
}
