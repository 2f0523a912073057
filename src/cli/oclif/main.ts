/** The entry point of the CLI: runs oclif and turns errors into messages and exit codes. */
import { fileURLToPath } from 'node:url'
import { ExitError } from '@oclif/core/errors'
import { run } from '@oclif/core/run'
import { settings } from '@oclif/core/settings'
import { ReportedError } from '../terminal/failures/command-errors.ts'
import { toFailure } from '../terminal/failures/describe-failure.ts'
import { EXIT } from '../terminal/failures/exit-codes.ts'
import { formatFailure, formatFailureJson, formatOutputFailure } from '../terminal/failures/format-failure.ts'
import { getInvocation, rewriteCommands } from '../terminal/invocation.ts'
import { wrapForStream } from '../terminal/wrap-sentences.ts'
import { moveLeadingFlags } from './leading-flags.ts'

/** Passed only when running from source. */
type LoadOptions = Parameters<typeof run>[1]

export async function main(
  start: LoadOptions = { root: fileURLToPath(new URL('..', import.meta.url)) },
  argv: string[] = process.argv.slice(2),
): Promise<void> {
  // Without this, oclif looks for TypeScript sources when NODE_ENV is not production.
  settings.enableAutoTranspile = false
  process.on('SIGINT', () => process.exit(EXIT.interrupted))
  handleOutputErrors()
  rewriteStderr()
  try {
    await run(moveLeadingFlags(argv), start)
  } catch (error) {
    process.exitCode = reportError(error, argv)
  }
}

/** Exits quietly when stdout is closed (EPIPE) and reports other write errors on stderr. */
function handleOutputErrors(): void {
  // oclif's own listeners throw.
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error')
  process.stderr.on('error', () => undefined) // nowhere left to report it
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done)
    process.stderr.write(`${formatOutputFailure(error)}\n`)
    process.exit(EXIT.failed)
  })
}

/** Rewrites commands in all messages, including hints of the daemon, as the user can type them. */
function rewriteStderr(): void {
  const invocation = getInvocation()
  if (invocation === 'cadre') return
  const write = process.stderr.write.bind(process.stderr) as (...args: unknown[]) => boolean
  process.stderr.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === 'string' ? rewriteCommands(chunk, invocation) : chunk, ...rest)
}

/** Prints the error to stderr and returns the exit code. */
function reportError(error: unknown, argv: readonly string[]): number {
  if (error instanceof ReportedError) return error.exitCode
  if (error instanceof ExitError) return error.oclif.exit ?? EXIT.done
  const failure = toFailure(error)
  process.stderr.write(`${hasJsonFlag(argv) ? formatFailureJson(failure) : wrapForStream(formatFailure(failure), process.stderr)}\n`)
  if (process.env.DEBUG) process.stderr.write(`${(error as Error).stack ?? ''}\n`)
  return failure.exitCode
}

function hasJsonFlag(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  return own.some(
    (word, index) =>
      word === '--json' || word === '--output=json' || (word === 'json' && ['-o', '--output'].includes(own[index - 1] ?? '')),
  )
}
