/** Prepares the home directory: creates it, restricts it to its owner and checks that it is writable. */
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, parse } from 'node:path'
import { ensureDirectory, type Paths } from '../../src/config.ts'
import { CadreError } from '../../src/contract/errors.ts'

const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600
const STICKY_BIT = 0o1000

/** Throws a CadreError that explains why the home cannot be used. */
export function prepareHome(paths: Paths): void {
  refuseSharedDirectory(paths.home)
  for (const directory of [paths.home, paths.vectors, paths.documents, paths.work, paths.logs]) createPrivateDirectory(directory)
  for (const directory of [paths.home, paths.logs]) restrictFileModes(directory)
  checkWritable(paths.home)
}

/** Replaces a small file atomically: readers and crashes see the old text or the new one. */
export function writeFileAtomically(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`
  try {
    writeFileSync(draft, text, { mode: FILE_MODE, flush: true })
    renameSync(draft, path)
    syncDirectory(dirname(path))
  } catch (error) {
    rmSync(draft, { force: true })
    throw explainFileError(error, path)
  }
}

/** Restricting a shared directory would lock out everyone else who uses it. */
function refuseSharedDirectory(home: string): void {
  const shared = home === parse(home).root || home === homedir() || ((statIfPresent(home)?.mode ?? 0) & STICKY_BIT) !== 0
  if (!shared) return
  throw new CadreError('UNAVAILABLE', `${home} is shared with other programs and cannot be Cadre's home.`, {
    hint: `Use a dedicated directory: CADRE_HOME=${join(home, 'cadre')}`,
  })
}

function createPrivateDirectory(directory: string): void {
  try {
    ensureDirectory(directory)
    const found = statSync(directory)
    if (!found.isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' })
    if ((found.mode & 0o777) !== DIRECTORY_MODE) chmodSync(directory, DIRECTORY_MODE)
  } catch (error) {
    throw explainFileError(error, directory)
  }
}

/** Uses chmod by path: closing any descriptor of the lock file would drop this process's lock. */
function restrictFileModes(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(directory, entry.name)
    const found = statIfPresent(path)
    if (found === undefined || (found.mode & 0o077) === 0) continue
    try {
      chmodSync(path, FILE_MODE)
    } catch (error) {
      throw explainFileError(error, path)
    }
  }
}

/** Writes a block: permissions do not reveal a read-only mount, a quota or a full disk. */
function checkWritable(home: string): void {
  const probe = join(home, `.probe-${process.pid}`)
  try {
    writeFileSync(probe, Buffer.alloc(4096, 1), { mode: FILE_MODE })
  } catch (error) {
    throw explainFileError(error, home)
  } finally {
    rmSync(probe, { force: true })
  }
}

function statIfPresent(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw explainFileError(error, path)
  }
}

/** A rename is durable only after its directory is synced. Windows neither needs nor allows it. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(directory, constants.O_RDONLY)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

const CHOOSE_ANOTHER_HOME = 'Choose another home with CADRE_HOME=/path/to/a/directory'

function explainFileError(error: unknown, path: string): CadreError {
  if (error instanceof CadreError) return error
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new CadreError('STORAGE_FULL', `No space left on the disk of ${path}.`, {
        hint: `Free some space and start again. ${CHOOSE_ANOTHER_HOME}`,
        cause: error,
      })
    case 'EEXIST':
    case 'ENOTDIR':
      return new CadreError('UNAVAILABLE', `${path} must be a directory, but it or one of its parents is a file.`, {
        hint: CHOOSE_ANOTHER_HOME,
        cause: error,
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new CadreError('UNAVAILABLE', `${path} is not writable by this user.`, {
        hint: `Change its owner with chown. ${CHOOSE_ANOTHER_HOME}`,
        cause: error,
      })
    default:
      return new CadreError('UNAVAILABLE', `Cannot prepare ${path}: ${message}`, { hint: CHOOSE_ANOTHER_HOME, cause: error })
  }
}
