/** Runs the command line: dispatches to oclif, and turns whatever goes wrong into a message and an exit code. */
import { fileURLToPath } from 'node:url'
import { ExitError } from '@oclif/core/errors'
import { run } from '@oclif/core/run'
import { settings } from '@oclif/core/settings'
import { EXIT, failureJson, failureOf, failureText, formatOutputFailure, QuietFailure } from '../terminal/errors.ts'
import { asTyped, invocation } from '../terminal/invocation.ts'
import { wrapForStream } from '../terminal/wrap-sentences.ts'

/** Told from outside only when it does not run from the bundle. */
export type Start = Parameters<typeof run>[1]

export async function main(
  start: Start = { root: fileURLToPath(new URL('..', import.meta.url)) },
  argv: string[] = process.argv.slice(2),
): Promise<void> {
  // The bundle is what runs, whatever NODE_ENV says: oclif must not look for TypeScript sources beside it.
  settings.enableAutoTranspile = false
  process.on('SIGINT', exitOnInterrupt)
  handleOutputErrors()
  rewriteStderr()
  try {
    await run(argv, start)
  } catch (error) {
    process.exitCode = reportError(error, argv)
  }
}

/** A reader that has seen enough ends the command; a disk that is full is told, on stderr, which may be all that is left. */
function handleOutputErrors(): void {
  // oclif listens too, and throws what it hears.
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error')
  process.stderr.on('error', () => undefined) // there is nobody to tell
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done)
    process.stderr.write(`${formatOutputFailure(error)}\n`)
    process.exit(EXIT.failed)
  })
}

/** All that people are told is on stderr, whoever says it, hints of the daemon too: commands in it are written as they can be typed here. */
function rewriteStderr(): void {
  const typed = invocation()
  if (typed === 'cadre') return
  const write = process.stderr.write.bind(process.stderr) as (...given: unknown[]) => boolean
  process.stderr.write = (told: unknown, ...rest: unknown[]) => write(typeof told === 'string' ? asTyped(told, typed) : told, ...rest)
}

function exitOnInterrupt(): never {
  process.exit(EXIT.interrupted)
}

/** Tells what went wrong, on stderr, and returns the exit code for it. */
function reportError(error: unknown, argv: readonly string[]): number {
  if (error instanceof QuietFailure) return error.exitCode
  if (error instanceof ExitError) return error.oclif.exit ?? EXIT.done
  const failure = failureOf(error)
  process.stderr.write(`${hasJsonFlag(argv) ? failureJson(failure) : wrapForStream(failureText(failure), process.stderr)}\n`)
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
