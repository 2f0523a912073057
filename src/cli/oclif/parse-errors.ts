/** Turns oclif's parse errors into usage errors with a hint. */
import { CLIError, ExitError } from '@oclif/core/errors'
import { suggestWord } from '../../contract/suggest.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

/** The parts of a command that hints need. */
interface CommandInfo {
  id: string
  flags?: Record<string, unknown>
  baseFlags?: Record<string, unknown>
  examples?: readonly unknown[] | undefined
}

/** Returns undefined for other errors. */
export function toUsageError(error: Error, command: CommandInfo): UsageError | undefined {
  if (!(error instanceof CLIError) || error instanceof ExitError) return undefined
  const name = formatCommandName(command)
  // oclif's parse errors have some of these properties.
  const { args = [], flags = [] } = error as CLIError & { args?: readonly unknown[]; flags?: readonly string[] }
  if (flags.length > 0) return new UsageError(`${name} has no flag ${flags.join(' or ')}.`, formatFlagHint(name, flags[0] ?? '', command))
  if (args.length === 0) {
    const problem = rewriteMessage(error.message)
    return new UsageError(problem, (problem.startsWith('Missing') ? formatExampleHint(command) : undefined) ?? formatHelpHint(name))
  }
  const names = args.flatMap((arg) => (typeof arg === 'object' && arg !== null && 'name' in arg ? [String(arg.name).toUpperCase()] : []))
  return names.length > 0
    ? new UsageError(`Missing ${names.join(' and ')}.`, formatExampleHint(command) ?? formatHelpHint(name))
    : createUnexpectedArgumentError(command, args.join(' '))
}

export function createUnexpectedArgumentError(command: CommandInfo, words: string): UsageError {
  const name = formatCommandName(command)
  return new UsageError(`${name} does not accept the argument "${words}".`, formatExampleHint(command) ?? formatHelpHint(name))
}

const formatCommandName = ({ id }: CommandInfo): string => `cadre ${id.replaceAll(':', ' ')}`

const formatHelpHint = (name: string): string => `To see the usage: ${name} --help`

function formatExampleHint({ examples = [] }: CommandInfo): string | undefined {
  const [first] = examples
  return typeof first === 'object' && first !== null && 'command' in first ? `For example: ${String(first.command)}` : undefined
}

function formatFlagHint(name: string, flag: string, { flags = {}, baseFlags = {} }: CommandInfo): string {
  const known = Object.keys({ ...baseFlags, ...flags })
  const near = suggestWord(flag.replace(/^-+/, ''), known)
  return near === undefined ? `To list the flags: ${name} --help` : `Did you mean --${near}?`
}

/** Removes oclif's frame around a single problem and shortens its messages. */
function rewriteMessage(message: string): string {
  return message
    .replace(/\n?See more help with --help/, '')
    .replace(/^The following errors? occurred:\n\s*/, '')
    .replace(/^Parsing (--\S+) *\n\tExpected (.*) but received: (.*)$/s, '$1 must be $2, not "$3".')
    .replace(/^Flag (--\S+) expects a value$/, '$1 needs a value.')
    .replaceAll(/(--[\w-]+)(?:=.*)? cannot also be provided when using (--[\w-]+)/g, '$1 and $2 cannot be used together.')
    .replace(/^Expected (--[\w-]+)=(.*) to be one of: (.*)$/s, '$1 must be one of $3, not "$2".')
    .replaceAll(/Missing required flag (\S+)/g, 'Missing --$1.')
}
