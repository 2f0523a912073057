/** What is told of a command that was called in a way oclif cannot take: in our words, with how it is called. */
import { CLIError, ExitError } from '@oclif/core/errors'
import { suggestWord } from '../../contract/suggest.ts'
import { UsageError } from '../terminal/errors.ts'

/** A command, as far as it is needed to say how it is called. */
interface CommandInfo {
  id: string
  flags?: Record<string, unknown>
  baseFlags?: Record<string, unknown>
  examples?: readonly unknown[] | undefined
}

/** What oclif's errors of this kind carry, each some of it. */
interface ParseError extends CLIError {
  args?: readonly unknown[]
  flags?: readonly string[]
}

/** Undefined where the error is of another kind. */
export function toUsageError(error: Error, command: CommandInfo): UsageError | undefined {
  if (!(error instanceof CLIError) || error instanceof ExitError) return undefined
  const name = formatCommandName(command)
  const { args = [], flags = [] } = error as ParseError
  if (flags.length > 0) return new UsageError(`${name} has no ${flags.join(' and ')}.`, formatFlagHint(name, flags[0] ?? '', command))
  if (args.length === 0) {
    const problem = rewriteMessage(error.message)
    return new UsageError(problem, (problem.startsWith('Missing') ? formatExampleHint(command) : undefined) ?? formatHelpHint(name))
  }
  const named = args.flatMap((arg) => (typeof arg === 'object' && arg !== null && 'name' in arg ? [String(arg.name).toUpperCase()] : []))
  return named.length > 0
    ? new UsageError(`Missing ${named.join(' and ')}.`, formatExampleHint(command) ?? formatHelpHint(name))
    : createUnexpectedArgumentError(command, args.join(' '))
}

/** Words too many. */
export function createUnexpectedArgumentError(command: CommandInfo, words: string): UsageError {
  const name = formatCommandName(command)
  return new UsageError(`${name} takes no "${words}".`, formatExampleHint(command) ?? formatHelpHint(name))
}

const formatCommandName = ({ id }: CommandInfo): string => `cadre ${id.replaceAll(':', ' ')}`

const formatHelpHint = (name: string): string => `${name} --help shows how it is called.`

function formatExampleHint({ examples = [] }: CommandInfo): string | undefined {
  const [first] = examples
  return typeof first === 'object' && first !== null && 'command' in first ? `For example: ${String(first.command)}` : undefined
}

function formatFlagHint(name: string, flag: string, { flags = {}, baseFlags = {} }: CommandInfo): string {
  const known = Object.keys({ ...baseFlags, ...flags })
  const near = suggestWord(flag.replace(/^-+/, ''), known)
  return near === undefined ? `${name} --help shows those it has.` : `Did you mean --${near}?`
}

/** Without the frame that oclif puts around a single problem, and with flags as people type them. */
function rewriteMessage(message: string): string {
  return message
    .replace(/\n?See more help with --help/, '')
    .replace(/^The following errors? occurred:\n\s*/, '')
    .replace(/^Parsing (--\S+) *\n\tExpected (.*) but received: (.*)$/s, '$1 takes $2, not "$3".')
    .replace(/^Flag (--\S+) expects a value$/, '$1 needs a value.')
    .replaceAll(/(--[\w-]+)(?:=.*)? cannot also be provided when using (--[\w-]+)/g, '$1 and $2 do not go together.')
    .replace(/^Expected (--[\w-]+)=(.*) to be one of: (.*)$/s, '$1 is one of $3, not "$2".')
    .replaceAll(/Missing required flag (\S+)/g, 'Missing --$1.')
}
