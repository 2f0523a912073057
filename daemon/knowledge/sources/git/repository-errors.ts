/** Errors of git sources, in terms of the repository. */
import { CadreError } from '../../../../src/contract/errors.ts'
import { removeUrlCredentials } from '../../../../src/contract/url-credentials.ts'
import type { GitError } from './run-git.ts'

export const createSizeError = (repository: string, size: string, hint: string): CadreError =>
  new CadreError('PAYLOAD_TOO_LARGE', `${removeUrlCredentials(repository)} has ${size}.`, { hint })

const AUTHENTICATION_ERROR = new RegExp(
  'could not read (Username|Password)|Authentication failed|Permission denied|terminal prompts disabled|Host key verification failed|' +
    'HTTP (Basic|401|403)|error: 40[13]',
  'i',
)

/** Explains an error of git by its message. */
export function toSourceError(failure: GitError, repository: string, branch: string | undefined, hasCredentials = false): CadreError {
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
