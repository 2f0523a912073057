/** Validates the configuration and the folders of a knowledge source, and checks which fields require the role admin. */
import { isAbsolute } from 'node:path'
import { Cron } from 'croner'
import { createValidationError } from '../../src/contract/errors.ts'
import { SOURCE_CONFIGURATIONS } from '../../src/contract/schemas/source-configurations.ts'
import { createSelection } from '../../src/files/selection.ts'
import { type Caller, requireAdmin } from '../core/caller.ts'
import { parseHttpUrl } from '../outbound/parse-url.ts'
import type { Validator } from '../validation/validator.ts'
import type { StoredSource } from './store.ts'

/** Nested under `configuration` so that errors name the full field. */
const SCHEMAS = Object.fromEntries(
  Object.entries(SOURCE_CONFIGURATIONS).map(([type, schema]) => [type, { type: 'object', properties: { configuration: schema } }]),
)

export function validateConfiguration(validator: Validator, caller: Caller, { type, configuration }: StoredSource): void {
  validator.check(SCHEMAS[type] as never, { configuration })
  const { path, paths, url, repository, schedule, allow_private_network } = configuration as Record<string, never> & { paths?: string[] }
  createSelection(configuration) // validates the globs
  if (schedule) validateSchedule(schedule)
  if (url) parseHttpUrl('configuration.url', url, 'Pages that require a login cannot be read.')
  if (paths?.length || type === 'folder' || (repository && validateRepository(repository) === 'local'))
    requireAdmin(caller, "set paths on the daemon's disk")
  // The daemon has a different working directory than its clients.
  if (path && !isAbsolute(path)) throw createValidationError('configuration.path', `must be an absolute path, not "${path}"`)
  if (allow_private_network) requireAdmin(caller, 'give a source access to the private network')
}

const CRON_NICKNAMES = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']
const SCHEDULE_HINT = 'Example: "0 3 * * *" runs every day at 3:00 (minute, hour, day of month, month, day of week).'

/** Rejects six fields: they would mean seconds here, and years in other programs. */
function validateSchedule(schedule: string): void {
  const fields = schedule.trim().split(/\s+/)
  const fail = (message: string) => createValidationError('configuration.schedule', message, SCHEDULE_HINT)
  if (fields.length !== 5 && !CRON_NICKNAMES.includes(schedule.trim().toLowerCase()))
    throw fail(`must be a cron expression with five fields; this one has ${fields.length}`)
  try {
    new Cron(schedule, { paused: true, mode: '5-part' }).stop()
  } catch (cause) {
    throw Object.assign(fail('is not a cron expression'), { cause })
  }
}

/** Decodes %2D and the like. */
function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // not encoded
  }
}

/** git accepts options and helper programs in place of a URL; only plain URLs and paths are allowed. */
function validateRepository(repository: string): 'local' | 'remote' {
  // ssh would read a user or host that begins with a dash as an option.
  if (/^(ssh:\/\/)?([^/]*@)?-/i.test(decodeLeniently(repository)))
    throw createValidationError('configuration.repository', 'must not have a user or host that begins with a dash')
  if (/^[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[^\s:][^\s]*$/.test(repository)) return 'remote'
  if (/^(\/|[A-Za-z]:[\\/])/.test(repository)) return 'local'
  if (!/^(https?|ssh|git):\/\/[^\s]+$/i.test(repository) || !URL.canParse(repository) || new URL(repository).hostname === '')
    throw createValidationError('configuration.repository', 'must be an https, ssh or git URL or an absolute path')
  const { protocol, username, password } = new URL(repository)
  // ssh needs a user name; elsewhere a user name may be a token.
  if (password !== '' || (username !== '' && protocol !== 'ssh:'))
    throw createValidationError(
      'configuration.repository',
      'must not contain a user name, password or token',
      protocol === 'ssh:' ? SSH_AUTH_HINT : AUTH_HINT,
    )
  return 'remote'
}

const AUTH_HINT =
  'Send them as auth, for example {"type": "basic", "username": "git", "password": "<TOKEN>"}; auth is encrypted and never returned.'
const SSH_AUTH_HINT = "ssh uses the keys of the daemon's user."

const MAX_PATH_LENGTH = 1_000

/** A folder is the start of document names, so another spelling of the same folder would describe nothing. */
export function validateFolders(descriptions: Record<string, string>): void {
  for (const folder of Object.keys(descriptions)) {
    const isInvalid =
      folder.trim() === '' ||
      folder.length > MAX_PATH_LENGTH ||
      /[\u0000-\u001f\u007f]/.test(folder) ||
      /^\/|\/$/.test(folder) ||
      folder.split('/').some((part) => part === '.' || part === '..')
    if (isInvalid)
      throw createValidationError(
        'folder_descriptions',
        `"${folder.slice(0, 100)}" must be the path of a folder within the source`,
        'Use the start of document names, such as policies/leave, without a slash at either end.',
      )
  }
}
