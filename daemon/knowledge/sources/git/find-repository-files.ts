/** Finds the documents of git sources: the files of a branch, without checking them out. */
import { stat } from 'node:fs/promises'
import { CadreError, createValidationError } from '../../../../src/contract/errors.ts'
import { removeUrlCredentials } from '../../../../src/contract/url-credentials.ts'
import { createSelection, type Selection } from '../../../../src/files/selection.ts'
import { formatSizeProblem } from '../files/read-file-within.ts'
import { formatSkipReason, REPOSITORY_IMAGE_MESSAGE } from '../format-skip-reason.ts'
import type { SourceDocument, SourceOptions } from '../source-document.ts'
import { BlobReader } from './blob-reader.ts'
import { FETCHED_REF, fetchRepository } from './fetch-repository.ts'
import { createSizeError, toSourceError } from './repository-errors.ts'
import { resolveLocalPath } from './resolve-remote.ts'
import { GitError, runGit, streamGit } from './run-git.ts'

const LIST_TIMEOUT_MS = 10 * 60_000
const MAX_DOCUMENTS = 100_000
/** Of all types: a few kilobytes of nested trees can list billions of paths. */
const MAX_PATHS = 1_000_000
/** The longest that Linux opens. A tree of a few kilobytes can name a file with a hundred million characters. */
const MAX_PATH_BYTES = 4_096
/** Of a line before the path: mode, type, hash and size. */
const MAX_LINE_START_BYTES = 128

export async function* findRepositoryFiles(options: SourceOptions): AsyncGenerator<SourceDocument> {
  const { configuration, signal } = options
  const { repository, branch } = configuration as { repository: string; branch?: string }
  // Git would read it as an option.
  if (branch?.startsWith('-')) throw createValidationError('configuration.branch', 'must not begin with a dash')
  const local = resolveLocalPath(repository)
  const selection = createSelection(configuration)
  const directory = local ?? (await fetchRepository(repository, branch, selection.maxFileSize, options))
  const commit = await resolveCommit(directory, local ? (branch ?? 'HEAD') : FETCHED_REF, repository, signal)
  const listFiles = () => listTree({ directory, commit, repository, signal })
  await requireDocumentLimit(listFiles(), selection, options)
  const blobs = new BlobReader(directory, selection.maxFileSize)
  for await (const { mode, blob, size, name } of listFiles()) {
    if (isFile(mode) && selection.hasUnsupportedType(name))
      yield {
        name,
        fingerprint: '',
        skipReason: formatSkipReason(name, REPOSITORY_IMAGE_MESSAGE),
        read: () => Promise.reject(new Error('skipped')),
      }
    if (!isDocument(mode, name, selection)) continue
    if (size === undefined && local !== undefined) throw createDamagedRepositoryError(repository, name)
    yield {
      name,
      fingerprint: blob,
      metadata: { path: name, commit },
      read: async (reading) => rejectLfsPointer(await blobs.read(blob, reading)),
      problem: formatProblem(size, selection.maxFileSize),
    }
  }
}

/** Git checks a fetch for missing content; a file without it is one that the fetch left out because of its size. */
function formatProblem(size: number | undefined, limit: number): string | undefined {
  if (size === undefined) return `The document has more than ${limit} bytes, which is what this source accepts.`
  return size > limit ? formatSizeProblem(size, limit) : undefined
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

function rejectLfsPointer(bytes: Uint8Array): Uint8Array {
  if (bytes.length > 1_024 || !Buffer.from(bytes).toString('latin1').startsWith('version https://git-lfs.github.com/spec/')) return bytes
  throw new CadreError('NOT_FOUND', 'The file is stored in Git LFS, which is not supported.')
}

async function resolveCommit(directory: string, revision: string, repository: string, signal: AbortSignal): Promise<string> {
  await requireDirectory(directory, repository)
  try {
    const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${revision}^{commit}`]
    return (await runGit({ directory, args, signal })).trim()
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

interface Tree {
  directory: string
  commit: string
  repository: string
  signal: AbortSignal
}

async function* listTree({ directory, commit, repository, signal }: Tree): AsyncGenerator<TreeEntry> {
  const args = ['ls-tree', '-r', '-l', '-z', commit]
  let rest: Buffer = Buffer.alloc(0)
  for await (const part of streamGit({ directory, args, signal, timeoutMs: LIST_TIMEOUT_MS })) {
    rest = Buffer.concat([rest, part])
    let from = 0
    for (let end = rest.indexOf(0, from); end >= 0; end = rest.indexOf(0, from)) {
      const line = rest.subarray(from, end).toString('utf8')
      from = end + 1
      if (Buffer.byteLength(line) > MAX_LINE_START_BYTES + MAX_PATH_BYTES) throw createPathError(repository)
      const [, mode = '', blob = '', size = '', name = ''] = /^(\d+) \w+ ([0-9a-f]+) +(\d+|-|BAD)\t(.*)$/s.exec(line) ?? []
      if (name === '') throw new CadreError('UNAVAILABLE', `git listed the files in an unknown format: ${line.slice(0, 200)}`)
      yield { mode, blob, size: size === 'BAD' ? undefined : Number(size) || 0, name: name.normalize('NFC') }
    }
    rest = rest.subarray(from)
    if (rest.length > MAX_LINE_START_BYTES + MAX_PATH_BYTES) throw createPathError(repository)
  }
}

const createPathError = (repository: string): CadreError =>
  createSizeError(repository, `a path of more than ${MAX_PATH_BYTES} bytes`, 'Choose another branch, or rename the file.')

/** Without it, the document would look deleted. */
function createDamagedRepositoryError(repository: string, name: string): CadreError {
  const hint = 'Run git fsck in the repository, and restore or clone it again.'
  return new CadreError('UNAVAILABLE', `${removeUrlCredentials(repository)} is damaged: the content of ${name} is missing. ${hint}`)
}
