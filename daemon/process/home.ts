/** The home on disk: its directories and files belong to one user, and say so before anything is kept in them. */
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
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, parse } from 'node:path'
import { makeFolder, type Paths } from '../../src/config.ts'
import { CadreError } from '../../src/contract/errors.ts'

const OWN_DIRECTORY = 0o700
const OWN_FILE = 0o600
const STICKY = 0o1000

/** Makes the home ready to be written, or says why it cannot be. */
export function prepareHome(paths: Paths): void {
  refuseShared(paths.home)
  for (const directory of [paths.home, paths.vectors, paths.documents, paths.models, paths.work, paths.logs]) own(directory)
  for (const directory of [paths.home, paths.logs]) tightenFiles(directory)
  proveWritable(paths.home)
}

/** Without it nobody knows what the originals belong to, and as leftovers of a crash they would be removed. */
export const databaseLost = ({ database, documents, home }: Paths) =>
  new CadreError('UNAVAILABLE', `${database} is missing or empty, but ${documents} holds documents.`, {
    hint: `Bring it back from a backup of ${home}; to begin anew, move ${documents} away.`,
  })

/** Replaces a small file in one step, so that a reader, a kill or a power cut sees the old text or the new one. */
export function writeOwnFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`
  try {
    const file = openSync(draft, 'w', OWN_FILE)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
    keepEntries(dirname(path))
  } catch (error) {
    rmSync(draft, { force: true })
    throw explained(error, path)
  }
}

/** A directory that others use must not be closed to them, which is what owning it would do. */
function refuseShared(home: string): void {
  const shared = home === parse(home).root || home === homedir() || ((existing(home)?.mode ?? 0) & STICKY) !== 0
  if (!shared) return
  throw new CadreError('UNAVAILABLE', `${home} is not Cadre's alone, so it cannot be its home.`, {
    hint: `Give it a directory of its own: CADRE_HOME=${join(home, 'cadre')}`,
  })
}

function own(directory: string): void {
  try {
    makeFolder(directory)
    const found = statSync(directory)
    if (!found.isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' })
    if ((found.mode & 0o777) !== OWN_DIRECTORY) chmodSync(directory, OWN_DIRECTORY)
  } catch (error) {
    throw explained(error, directory)
  }
}

/** By path, never by opening: closing any descriptor of the lock file would drop this process's lock on it. */
function tightenFiles(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(directory, entry.name)
    const found = existing(path)
    if (found === undefined || (found.mode & 0o077) === 0) continue
    try {
      chmodSync(path, OWN_FILE)
    } catch (error) {
      throw explained(error, path)
    }
  }
}

/** Permissions do not tell about a read-only mount, a quota or a full disk; a written block does. */
function proveWritable(home: string): void {
  const probe = join(home, `.probe-${process.pid}`)
  try {
    const file = openSync(probe, 'w', OWN_FILE)
    try {
      const block = Buffer.alloc(4096, 1)
      if (writeSync(file, block) < block.length) throw Object.assign(new Error('short write'), { code: 'ENOSPC' })
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw explained(error, home)
  } finally {
    rmSync(probe, { force: true })
  }
}

function existing(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw explained(error, path)
  }
}

/** A rename is only durable once its directory is; Windows cannot open one and needs no such thing. */
function keepEntries(directory: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(directory, constants.O_RDONLY)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

const ELSEWHERE = 'Choose another home with CADRE_HOME=/path/to/a/directory'

function explained(error: unknown, path: string): CadreError {
  if (error instanceof CadreError) return error
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new CadreError('STORAGE_FULL', `There is no space left on the disk of ${path}.`, {
        hint: `Free some space, then start again. ${ELSEWHERE}`,
        cause: error,
      })
    case 'EEXIST':
    case 'ENOTDIR':
      return new CadreError('UNAVAILABLE', `${path} should be a directory, but it or a part of it is a file.`, {
        hint: ELSEWHERE,
        cause: error,
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new CadreError('UNAVAILABLE', `${path} cannot be written by this user.`, {
        hint: `Make it yours with chown, or: ${ELSEWHERE}`,
        cause: error,
      })
    default:
      return new CadreError('UNAVAILABLE', `${path} cannot be prepared: ${message}`, { hint: ELSEWHERE, cause: error })
  }
}
