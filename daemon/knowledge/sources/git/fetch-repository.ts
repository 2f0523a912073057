/** Fetches the latest commit of a remote repository, without history and without files that are too large to be documents. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CadreError } from '../../../../src/contract/errors.ts'
import type { SourceOptions } from '../source-document.ts'
import { limitFolderSize } from './folder-size-limit.ts'
import { createSizeError, toSourceError } from './repository-errors.ts'
import { type Remote, resolveRemote } from './resolve-remote.ts'
import { GitError, runGit } from './run-git.ts'

const FETCH_TIMEOUT_MS = 30 * 60_000
const MAX_REPOSITORY_BYTES = 1024 ** 3
const REMOTE = 'cadre'
/** In the configuration of a clone: larger files are missing from it. */
const MAX_FILE_SIZE = 'cadre.maxFileSize'

export const FETCHED_REF = 'refs/cadre/fetched'

interface Fetch {
  directory: string
  remote: Remote
  branch: string | undefined
  /** In bytes. Servers that cannot leave out larger files send them, too. */
  maxFileSize: number
  signal: AbortSignal
}

/** Fetches into a bare repository in the work directory, and returns its directory. */
export async function fetchRepository(
  repository: string,
  branch: string | undefined,
  maxFileSize: number,
  options: SourceOptions,
): Promise<string> {
  const { configuration, signal, workDirectory, outbound, auth = { type: 'none' }, maxRepositoryBytes = MAX_REPOSITORY_BYTES } = options
  const allowPrivateNetwork = configuration.allow_private_network === true
  const remote = await resolveRemote(repository, { outbound, allowPrivateNetwork, signal, auth })
  const directory = join(workDirectory, 'repository.git')
  let isNew = (await mkdir(directory, { recursive: true, mode: 0o700 })) !== undefined
  await requireGitVersion(directory, remote, signal)
  for (;;) {
    const size = limitFolderSize(directory, maxRepositoryBytes)
    try {
      await fetchBranch({ directory, remote, branch, maxFileSize, signal: AbortSignal.any([signal, size.signal]) })
      await size.check()
      size.signal.throwIfAborted()
      return directory
    } catch (error) {
      const isTooLarge = size.signal.aborted && !signal.aborted
      if (!isTooLarge && !(error instanceof GitError)) throw error
      const reason = isTooLarge
        ? createTooLargeError(repository, maxRepositoryBytes)
        : toSourceError(error as GitError, repository, branch, auth.type !== 'none')
      if (isTooLarge) await rm(directory, { recursive: true, force: true })
      if (isNew || !['UNAVAILABLE', 'PAYLOAD_TOO_LARGE'].includes(reason.code)) throw reason
    } finally {
      size.close()
    }
    // Earlier commits, or files of an interrupted fetch (locks, partial packs), may be the cause: retry with an empty repository.
    await recreate(directory)
    isNew = true
  }
}

const createTooLargeError = (repository: string, maxBytes: number): CadreError =>
  createSizeError(
    repository,
    `more than ${Math.floor(maxBytes / 1024 ** 2)} MB in its latest commit`,
    'Clone it yourself, and add its folder as a source.',
  )

async function recreate(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { mode: 0o700 })
}

/**
 * Older versions cannot pin the IP address of an http URL (for https, the certificate protects against another server) or take a header
 * from the environment.
 */
async function requireGitVersion(directory: string, { protocols, environment }: Remote, signal: AbortSignal): Promise<void> {
  const output = await runGit({ directory, args: ['version'], signal })
  const [, major, minor] = /(\d+)\.(\d+)/.exec(output) ?? []
  const version = Number(major) * 1_000 + Number(minor)
  if ('GIT_CONFIG_COUNT' in environment && version < 2_031)
    throw new CadreError('UNAVAILABLE', `Repositories with credentials require git 2.31 or later; found ${output.trim()}.`)
  if (protocols.includes('http') && version < 2_037)
    throw new CadreError('UNAVAILABLE', `Repositories with an http URL require git 2.37 or later; found ${output.trim()}.`, {
      hint: 'Use the https URL.',
    })
}

async function fetchBranch(fetch: Fetch): Promise<void> {
  const { directory, maxFileSize, signal } = fetch
  const run = (...args: string[]) => runGit({ directory, args, signal })
  await run('init', '--quiet', '--bare', '--template=', '.')
  const storedSize = await run('config', '--default', '', '--get', MAX_FILE_SIZE)
  // The clone lacks files that are documents now, or has files that no longer are.
  if (storedSize.trim() !== String(maxFileSize)) {
    await recreate(directory)
    await run('init', '--quiet', '--bare', '--template=', '.')
    await run('config', MAX_FILE_SIZE, String(maxFileSize))
  }
  try {
    // Git leaves out files of at least this size.
    await fetchCommit(fetch, [`--filter=blob:limit=${maxFileSize + 1}`])
  } catch (error) {
    if (!(error instanceof GitError && /filter '?blob:limit'? not supported/.test(error.stderr))) throw error
    await fetchCommit(fetch, [])
  }
}

async function fetchCommit({ directory, remote, branch, signal }: Fetch, filter: readonly string[]): Promise<void> {
  const { address, protocols, settings, environment, redact } = remote
  const args = [
    'fetch',
    '--quiet',
    '--depth=1',
    '--no-tags',
    '--no-recurse-submodules',
    '--update-shallow',
    '--force',
    ...filter,
    '--',
    REMOTE,
    `${branch ?? 'HEAD'}:${FETCHED_REF}`,
  ]
  const options = { protocols, settings: [...settings, `remote.${REMOTE}.url=${address}`], environment, redact }
  try {
    await runGit({ directory, args, ...options, signal, timeoutMs: FETCH_TIMEOUT_MS })
  } finally {
    // Git has stored that the remote has the files left out. Commands that list files would fetch them, or fail.
    const removal = ['config', '--remove-section', `remote.${REMOTE}`]
    await runGit({ directory, args: removal, signal }).catch(() => undefined)
  }
}
