/** Finds the documents of git sources: the files of a branch, without checking them out. */
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CadreError, createValidationError } from '../../../../src/contract/errors.ts'
import { removeUrlCredentials } from '../../../../src/contract/url-credentials.ts'
import { createSelection, type Selection } from '../../../../src/files/selection.ts'
import { formatSizeProblem } from '../files/read-file-within.ts'
import { formatSkipReason, REPOSITORY_IMAGE_MESSAGE } from '../format-skip-reason.ts'
import type { SourceDocument, SourceOptions } from '../source-document.ts'
import { BlobReader } from './blob-reader.ts'
import { FolderSizeLimit } from './folder-size-limit.ts'
import { type Remote, resolveLocalPath, resolveRemote } from './resolve-remote.ts'
import { GitError, runGit, streamGit } from './run-git.ts'

const COMMAND_TIMEOUT_MS = 60_000
const FETCH_TIMEOUT_MS = 30 * 60_000
const LIST_TIMEOUT_MS = 10 * 60_000
const MAX_DOCUMENTS = 100_000
/** Of all types: a few kilobytes of nested trees can list billions of paths. */
const MAX_PATHS = 1_000_000
const MAX_REPOSITORY_BYTES = 1024 ** 3
const FETCHED_REF = 'refs/cadre/fetched'

export async function* findRepositoryFiles(options: SourceOptions): AsyncGenerator<SourceDocument> {
  const { configuration, signal } = options
  const { repository, branch } = configuration as { repository: string; branch?: string }
  // Git would read it as an option.
  if (branch?.startsWith('-')) throw createValidationError('configuration.branch', 'must not begin with a dash')
  const local = resolveLocalPath(repository)
  const directory = local ?? (await fetchRepository(repository, branch, options))
  const commit = await resolveCommit(directory, local ? (branch ?? 'HEAD') : FETCHED_REF, repository, signal)
  const selection = createSelection(configuration)
  await requireDocumentLimit(listTree(directory, commit, signal), selection, options)
  const blobs = new BlobReader(directory, selection.maxFileSize)
  for await (const { mode, blob, size, name } of listTree(directory, commit, signal)) {
    if (isFile(mode) && selection.hasUnsupportedType(name))
      yield {
        name,
        fingerprint: '',
        skipReason: formatSkipReason(name, REPOSITORY_IMAGE_MESSAGE),
        read: () => Promise.reject(new Error('skipped')),
      }
    if (!isDocument(mode, name, selection)) continue
    if (size === undefined) {
      // The next sync fetches everything again.
      if (local === undefined) await rm(directory, { recursive: true, force: true })
      throw createDamagedRepositoryError(repository, name, local !== undefined)
    }
    const problem = size > selection.maxFileSize ? { problem: formatSizeProblem(size, selection.maxFileSize) } : {}
    yield {
      name,
      fingerprint: blob,
      metadata: { path: name, commit },
      read: async (reading) => rejectLfsPointer(await blobs.read(blob, reading)),
      ...problem,
    }
  }
}

/** Symbolic links and submodules are not documents. */
const isFile = (mode: string): boolean => mode.startsWith('100')
const isDocument = (mode: string, name: string, selection: Selection): boolean => isFile(mode) && selection.includesFile(name)

/** Counts first: a repository is written by others, and a few kilobytes can list millions of files. */
async function requireDocumentLimit(
  entries: AsyncIterable<TreeEntry>,
  selection: Selection,
  { configuration, maxPaths = MAX_PATHS, maxDocuments = MAX_DOCUMENTS }: SourceOptions,
): Promise<void> {
  const { repository } = configuration as { repository: string }
  let count = 0
  let paths = 0
  for await (const { mode, name } of entries) {
    if (++paths > maxPaths) throw createSizeError(repository, `more than ${maxPaths} files`, 'Choose a smaller repository or branch.')
    if (isDocument(mode, name, selection) && ++count > maxDocuments)
      throw createSizeError(repository, `more than ${maxDocuments} documents`, 'Select fewer with include, exclude or file_types.')
  }
}

const createSizeError = (repository: string, size: string, hint: string) =>
  new CadreError('PAYLOAD_TOO_LARGE', `${removeUrlCredentials(repository)} has ${size}.`, { hint })

function rejectLfsPointer(bytes: Uint8Array): Uint8Array {
  if (bytes.length > 1_024 || !Buffer.from(bytes).toString('latin1').startsWith('version https://git-lfs.github.com/spec/')) return bytes
  throw new CadreError('NOT_FOUND', 'The file is stored in Git LFS, which is not supported.')
}

/** Fetches the latest commit of the branch, without history, into a bare repository in the work directory. */
async function fetchRepository(repository: string, branch: string | undefined, options: SourceOptions): Promise<string> {
  const { configuration, signal, workDirectory, outbound, auth = { type: 'none' }, maxRepositoryBytes = MAX_REPOSITORY_BYTES } = options
  const allowPrivateNetwork = configuration.allow_private_network === true
  const remote = await resolveRemote(repository, { outbound, allowPrivateNetwork, signal, auth })
  const directory = join(workDirectory, 'repository.git')
  const first = (await mkdir(directory, { recursive: true, mode: 0o700 })) !== undefined
  await requireGitVersion(directory, remote, signal)
  const size = new FolderSizeLimit(directory, maxRepositoryBytes)
  const rejectSize = async () => {
    await rm(directory, { recursive: true, force: true })
    const megabytes = Math.floor(maxRepositoryBytes / 1024 ** 2)
    return createSizeError(
      repository,
      `more than ${megabytes} MB in its latest commit`,
      'Clone it yourself, and add its folder as a source.',
    )
  }
  try {
    await fetchBranch(directory, remote, branch, AbortSignal.any([signal, size.signal]))
    await size.isExceeded()
    size.signal.throwIfAborted()
  } catch (error) {
    if (size.signal.aborted && !signal.aborted) throw await rejectSize()
    if (!(error instanceof GitError)) throw error
    const reason = toSourceError(error, repository, branch, auth.type !== 'none')
    if (first || reason.code !== 'UNAVAILABLE') throw reason
    // Files of an interrupted fetch (locks, partial packs) may be the cause: retry with an empty repository.
    await rm(directory, { recursive: true, force: true })
    return fetchRepository(repository, branch, options)
  } finally {
    size.close()
  }
  return directory
}

/**
 * Older versions cannot pin the IP address of an http URL (for https, the certificate protects against another server) or take a header
 * from the environment.
 */
async function requireGitVersion(directory: string, { protocols, environment }: Remote, signal: AbortSignal): Promise<void> {
  const output = await runGit({ directory, args: ['version'], signal, timeoutMs: COMMAND_TIMEOUT_MS })
  const [, major, minor] = /(\d+)\.(\d+)/.exec(output) ?? []
  const version = Number(major) * 1_000 + Number(minor)
  if ('GIT_CONFIG_COUNT' in environment && version < 2_031)
    throw new CadreError('UNAVAILABLE', `Repositories with credentials require git 2.31 or later; found ${output.trim()}.`)
  if (protocols.includes('http') && version < 2_037)
    throw new CadreError('UNAVAILABLE', `Repositories with an http URL require git 2.37 or later; found ${output.trim()}.`, {
      hint: 'Use the https URL.',
    })
}

async function fetchBranch(
  directory: string,
  { address, protocols, settings, environment, redact }: Remote,
  branch: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  await runGit({ directory, args: ['init', '--quiet', '--bare', '--template=', '.'], signal, timeoutMs: COMMAND_TIMEOUT_MS })
  const args = [
    'fetch',
    '--quiet',
    '--depth=1',
    '--no-tags',
    '--no-recurse-submodules',
    '--update-shallow',
    '--force',
    '--',
    address,
    `${branch ?? 'HEAD'}:${FETCHED_REF}`,
  ]
  await runGit({ directory, args, protocols, settings, environment, redact, signal, timeoutMs: FETCH_TIMEOUT_MS })
}

async function resolveCommit(directory: string, revision: string, repository: string, signal: AbortSignal): Promise<string> {
  await requireDirectory(directory, repository)
  try {
    const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${revision}^{commit}`]
    return (await runGit({ directory, args, signal, timeoutMs: COMMAND_TIMEOUT_MS })).trim()
  } catch (error) {
    throw error instanceof GitError ? toSourceError(error, repository, revision === 'HEAD' ? undefined : revision) : error
  }
}

async function requireDirectory(directory: string, repository: string): Promise<void> {
  try {
    if ((await stat(directory)).isDirectory()) return
  } catch (cause) {
    throw new CadreError('NOT_FOUND', `${repository} does not exist.`, {
      hint: 'Restore it, or update the configuration of the source.',
      cause,
    })
  }
  throw new CadreError('NOT_FOUND', `${repository} is not a folder with a git repository.`)
}

interface TreeEntry {
  mode: string
  blob: string
  /** Undefined if the content is missing from the repository. */
  size: number | undefined
  name: string
}

async function* listTree(directory: string, commit: string, signal: AbortSignal): AsyncGenerator<TreeEntry> {
  const args = ['ls-tree', '-r', '-l', '-z', commit]
  let rest: Buffer = Buffer.alloc(0)
  for await (const part of streamGit({ directory, args, signal, timeoutMs: LIST_TIMEOUT_MS })) {
    rest = Buffer.concat([rest, part])
    let from = 0
    for (let end = rest.indexOf(0, from); end >= 0; end = rest.indexOf(0, from)) {
      const line = rest.subarray(from, end).toString('utf8')
      from = end + 1
      const [, mode = '', blob = '', size = '', name = ''] = /^(\d+) \w+ ([0-9a-f]+) +(\d+|-|BAD)\t(.*)$/s.exec(line) ?? []
      if (name === '') throw new CadreError('UNAVAILABLE', `git listed the files in an unknown format: ${line.slice(0, 200)}`)
      yield { mode, blob, size: size === 'BAD' ? undefined : Number(size) || 0, name: name.normalize('NFC') }
    }
    rest = rest.subarray(from)
  }
}

/** Without it, the document would look deleted. */
function createDamagedRepositoryError(repository: string, name: string, isLocal: boolean): CadreError {
  const hint = isLocal ? 'Run git fsck in the repository, and restore or clone it again.' : 'Sync again.'
  return new CadreError('UNAVAILABLE', `${removeUrlCredentials(repository)} is damaged: the content of ${name} is missing. ${hint}`)
}

const AUTHENTICATION_ERROR = new RegExp(
  'could not read (Username|Password)|Authentication failed|Permission denied|terminal prompts disabled|Host key verification failed|' +
    'HTTP (Basic|401|403)|error: 40[13]',
  'i',
)

/** Explains an error of git by its message. */
function toSourceError(failure: GitError, repository: string, branch: string | undefined, hasCredentials = false): CadreError {
  const { stderr } = failure
  const address = removeUrlCredentials(repository)
  const because = (code: 'NOT_FOUND' | 'UNAVAILABLE' | 'FORBIDDEN', message: string, hint?: string) =>
    new CadreError(code, message, { hint, cause: failure })
  if (/dubious ownership/.test(stderr))
    return because(
      'FORBIDDEN',
      `${address} is owned by another user, so git refuses to read it.`,
      `Run: git config --global --add safe.directory ${address}`,
    )
  if (/not a git repository/i.test(stderr)) return because('NOT_FOUND', `${address} is not a git repository.`)
  if (/couldn't find remote ref HEAD/i.test(stderr) || (stderr === '' && branch === undefined))
    return because('NOT_FOUND', `${address} has no commits yet.`)
  if (stderr === '' || /couldn't find remote ref|unknown revision|Needed a single revision|not a valid/i.test(stderr))
    return because('NOT_FOUND', `${address} has no branch or tag "${branch}".`)
  if (AUTHENTICATION_ERROR.test(stderr))
    return because(
      'FORBIDDEN',
      `${address} ${hasCredentials ? 'rejected the credentials' : 'requires credentials'}, or does not exist.`,
      "Set them with cadre knowledge update --auth, store them in git's credential helper, or use SSH with a key and a known host.",
    )
  if (/not found|does not appear to be a git repository|error: 404/i.test(stderr))
    return because('NOT_FOUND', `No repository found at ${address}.`)
  if (/redirect|error: 30[1278]/i.test(stderr))
    return because('UNAVAILABLE', `${address} redirects to another URL.`, 'Use that URL in the configuration.')
  return because('UNAVAILABLE', `${address} could not be read. ${failure.message}`)
}
