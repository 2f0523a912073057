/** Parses `name=value` flags. */
import { UsageError } from '../terminal/failures/command-errors.ts'

/** `flag` is shown in the error, for example `--filter`. */
export function parsePair(text: string, flag: string, hint = 'Use name=value.'): [name: string, value: string] {
  const index = text.indexOf('=')
  if (index < 1) throw new UsageError(`${flag} ${text} has no value.`, hint)
  return [text.slice(0, index), text.slice(index + 1)]
}
