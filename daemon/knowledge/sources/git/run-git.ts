/** Running git: with arguments as a list, no prompts, no hooks, no helper programs, and a time limit. */
import { type ChildProcess, spawn } from 'node:child_process'
import { CadreError } from '../../../../src/contract/errors.ts'

export interface GitCommand {
  /** The repository it works on. */
  directory: string
  args: readonly string[]
  /** Schemes it may connect by; none for work on the disk. */
  protocols?: readonly string[]
  settings?: readonly string[]
  environment?: Readonly<Record<string, string>>
  /** What of its own words nobody shall read is taken out by this. */
  redact?(text: string): string
  signal: AbortSignal
  timeoutMs: number
}

/** What a repository's own configuration must not switch on again. */
const BASE_SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.quotePath=false',
  'gc.autoDetach=false',
  'maintenance.autoDetach=false',
  'protocol.allow=never',
  'http.followRedirects=false',
  'submodule.recurse=false',
  'credential.interactive=false',
]
/** What git, ssh and credential helpers need; keys of ours or of others are none of their business, and GIT_ variables point elsewhere. */
const INHERITED_VARIABLES =
  /^(PATH|PATHEXT|HOME|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|SSH_AUTH_SOCK|SSH_AGENT_PID|SSL_CERT_(FILE|DIR)|GIT_SSL_CAINFO|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|(LOCAL)?APPDATA|USERPROFILE|HOME(DRIVE|PATH)|SYSTEM(ROOT|DRIVE)|COMSPEC|WINDIR|PROGRAM(FILES|DATA).*)$/i
const MAX_STDERR_LENGTH = 4_000
const KILL_DELAY_MS = 2_000

/** Standard output as it comes. Throws CadreError with git's own words when git fails; the process never outlives the loop. */
export async function* streamGit(run: GitCommand): AsyncGenerator<Buffer> {
  run.signal.throwIfAborted()
  const { child, exit: ended } = spawnGit(run)
  let late = false
  const end = () => stopGit(child)
  const timer = setTimeout(() => {
    late = true
    end()
  }, run.timeoutMs)
  run.signal.addEventListener('abort', end, { once: true })
  try {
    for await (const part of child.stdout ?? []) yield part as Buffer
    const { code, stderr: errors } = await ended
    run.signal.throwIfAborted()
    if (late)
      throw new CadreError('PROVIDER_TIMEOUT', `git ${run.args[0]} took longer than ${Math.round(run.timeoutMs / 1000)} s and was ended.`)
    if (code !== 0) throw new GitError(run.args[0] ?? '', errors)
  } finally {
    clearTimeout(timer)
    run.signal.removeEventListener('abort', end)
    end()
  }
}

/** Asked first, so that it ends its own helpers and takes its lock files along. */
function stopGit(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_DELAY_MS).unref()
  child.once('close', () => clearTimeout(timer))
}

export async function runGit(run: GitCommand): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of streamGit(run)) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

/** git ran and said no. */
export class GitError extends CadreError {
  readonly stderr: string

  constructor(command: string, said: string) {
    const words = said
      .split('\n')
      .filter((line) => line.trim() !== '' && !/^(hint|warning|remote:\s*$)/.test(line))
      .map((line) => line.replace(/^(fatal|error): /, '').replaceAll(/\/\/[^/@\s']*@/g, '//'))
    super('UNAVAILABLE', `git ${command} failed: ${words.slice(0, 3).join(' ') || 'it said nothing'}`)
    this.stderr = said
  }
}

export interface GitProcess {
  child: ChildProcess
  exit: Promise<{ code: number | null; stderr: string }>
}

/** The process itself, for conversations with it. Its output must be read. */
export function spawnGit({
  directory,
  args,
  protocols = [],
  settings = [],
  environment = {},
  redact = (text) => text,
}: Omit<GitCommand, 'signal' | 'timeoutMs'>): GitProcess {
  const all = [...BASE_SETTINGS, ...settings]
  const env = {
    ...filterEnvironment(),
    GIT_TERMINAL_PROMPT: '0',
    // Over all configuration: a scheme that is not here is refused. An empty list would be no list.
    GIT_ALLOW_PROTOCOL: protocols.join(':') || 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
    GCM_INTERACTIVE: 'never',
    // Its messages are told apart by their words.
    LC_ALL: 'C',
    ...environment,
  }
  const child = spawn('git', ['-C', directory, ...all.flatMap((setting) => ['-c', setting]), ...args], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_STDERR_LENGTH) stderr += text.slice(0, MAX_STDERR_LENGTH)
  })
  // A process that ended early leaves nobody to write to; how it ended is what is told.
  child.stdin?.on('error', () => {})
  const exit = new Promise<{ code: number | null; stderr: string }>((resolve, reject) => {
    child.once('error', (error) => reject(toSpawnError(error)))
    child.once('close', (code) => resolve({ code, stderr: redact(stderr) }))
  })
  // Whoever waits for it gets the error; nobody waiting is no crash.
  exit.catch(() => {})
  return { child, exit }
}

function filterEnvironment(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => INHERITED_VARIABLES.test(name)))
}

function toSpawnError(error: NodeJS.ErrnoException): CadreError {
  if (error.code !== 'ENOENT') return new CadreError('UNAVAILABLE', `git could not be started: ${error.message}.`, { cause: error })
  return new CadreError('UNAVAILABLE', 'git is not installed on this machine.', {
    hint: 'Install git, or add a folder source for a checked-out copy.',
    cause: error,
  })
}
