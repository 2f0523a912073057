/** A question that is missing, told alike by all commands that take one. */
import { UsageError } from '../terminal/errors.ts'

/** The command as far as the question would follow, so that it can be typed with one. */
export function createMissingQuestionError(command: string, stdin = false): UsageError {
  const problem = stdin ? 'There is no question: stdin is empty.' : 'There is no question.'
  return new UsageError(problem, `For example: ${command} "How many days of leave do I have?"`)
}
