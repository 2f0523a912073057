/** Runs git without a shell, prompts, hooks or helper programs, and with a time limit. */
import { type ChildProcess, spawn } from 'node:child_process'
import { CadreError } from '../../../../src/contract/errors.ts'
import { scaleTimeout, startDeadline } from '../../../../src/deadline.ts'
import { HAS_PROCESS_GROUPS, signalProcessGroup } from '../../../process/process-group.ts'

interface GitCommand {
  directory: string
  args: readonly string[]
  /** Allowed protocols; none for local commands. */
  protocols?: readonly string[]
  settings?: readonly string[]
  environment?: Readonly<Record<string, string>>
  /** Removes secrets from its error output. */
  redact?(text: string): string
  signal: AbortSignal
  /** Default: a minute. */
  timeoutMs?: number
}

/** Override the configuration of the repository. */
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
/** Variables that git, ssh and credential helpers need. Excludes secrets and GIT_ variables, which redirect git. */
const INHERITED_VARIABLES = new RegExp(
  '^(' +
    'PATH|PATHEXT|HOME|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|SSH_AUTH_SOCK|SSH_AGENT_PID|SSL_CERT_(FILE|DIR)|' +
    'GIT_SSL_CAINFO|XDG_\\w+|DBUS_SESSION_BUS_ADDRESS|(LOCAL)?APPDATA|USERPROFILE|HOME(DRIVE|PATH)|SYSTEM(ROOT|DRIVE)|' +
    'COMSPEC|WINDIR|PROGRAM(FILES|DATA).*' +
    ')$',
  'i',
)
const TIMEOUT_MS = 60_000
const MAX_STDERR_LENGTH = 4_000
const KILL_DELAY_MS = 2_000

/** Streams standard output. Throws GitError if git fails; the process ends with the loop. */
export async function* streamGit(command: GitCommand): AsyncGenerator<Buffer> {
  const { signal, timeoutMs = TIMEOUT_MS } = command
  signal.throwIfAborted()
  const { child, exit } = spawnGit(command)
  let isClosed = false
  child.once('close', () => {
    isClosed = true
  })
  const end = () => {
    if (!isClosed) stopGit(child)
  }
  const deadline = startDeadline(scaleTimeout(timeoutMs), end)
  signal.addEventListener('abort', end, { once: true })
  try {
    for await (const part of child.stdout ?? []) yield part as Buffer
    const { code, stderr } = await exit
    signal.throwIfAborted()
    if (deadline.hasPassed)
      throw new CadreError('PROVIDER_TIMEOUT', `git ${command.args[0]} timed out after ${Math.round(timeoutMs / 1000)} s.`)
    if (code !== 0) throw new GitError(command.args[0] ?? '', stderr)
  } finally {
    deadline.cancel()
    signal.removeEventListener('abort', end)
    end()
  }
}

/** Sends SIGTERM first, so that git removes its lock files. Helpers that receive a pack would go on without git. */
function stopGit(child: ChildProcess): void {
  signalProcessGroup(child, 'SIGTERM')
  const timer = setTimeout(() => signalProcessGroup(child, 'SIGKILL'), KILL_DELAY_MS).unref()
  child.once('close', () => clearTimeout(timer))
}

export async function runGit(command: GitCommand): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of streamGit(command)) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

/** Git exited with an error. */
export class GitError extends CadreError {
  readonly stderr: string

  constructor(command: string, stderr: string) {
    const lines = stderr
      .split('\n')
      .filter((line) => line.trim() !== '' && !/^(hint|warning|remote:\s*$)/.test(line))
      .map((line) => line.replace(/^(fatal|error): /, '').replaceAll(/\/\/[^/@\s']*@/g, '//'))
    super('UNAVAILABLE', `git ${command} failed: ${lines.slice(0, 3).join(' ') || 'no error output'}`)
    this.stderr = stderr
  }
}

export interface GitProcess {
  child: ChildProcess
  exit: Promise<{ code: number | null; stderr: string }>
}

const selectInheritedVariables = (environment: NodeJS.ProcessEnv = process.env) =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => INHERITED_VARIABLES.test(name)))

/** Starts git; the caller must read its output. */
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
    ...selectInheritedVariables(),
    GIT_TERMINAL_PROMPT: '0',
    // Overrides all configuration. An empty list would allow every protocol.
    GIT_ALLOW_PROTOCOL: protocols.join(':') || 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
    GCM_INTERACTIVE: 'never',
    // Errors are recognized by their English messages.
    LC_ALL: 'C',
    ...environment,
  }
  const child = spawn('git', ['-C', directory, ...all.flatMap((setting) => ['-c', setting]), ...args], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // A process group of its own, which can be ended with all helpers.
    detached: HAS_PROCESS_GROUPS,
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_STDERR_LENGTH) stderr += text.slice(0, MAX_STDERR_LENGTH)
  })
  // The exit status reports the error of a process that ended early.
  child.stdin?.on('error', () => {})
  const exit = new Promise<{ code: number | null; stderr: string }>((resolve, reject) => {
    child.once('error', (error) => reject(toSpawnError(error)))
    child.once('close', (code) => resolve({ code, stderr: redact(stderr) }))
  })
  // Prevents an unhandled rejection if it is never awaited.
  exit.catch(() => {})
  return { child, exit }
}

function toSpawnError(error: NodeJS.ErrnoException): CadreError {
  if (error.code !== 'ENOENT') return new CadreError('UNAVAILABLE', `git could not be started: ${error.message}.`, { cause: error })
  return new CadreError('UNAVAILABLE', 'git is not installed on this machine.', {
    hint: 'Install git, or add a folder source for a checked-out copy.',
    cause: error,
  })
}
