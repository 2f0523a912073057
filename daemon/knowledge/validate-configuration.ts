/** What a knowledge source's configuration must be, and what of it only an admin may say. */
import { isAbsolute } from 'node:path'
import { Cron } from 'croner'
import { createValidationError } from '../../src/contract/errors.ts'
import { SOURCE_CONFIGURATIONS } from '../../src/contract/families/knowledge-sources.ts'
import { adminsOnly, type Caller } from '../core/caller.ts'
import { plainAddress } from '../outbound/address.ts'
import type { Validator } from '../validation/validator.ts'
import type { StoredSource } from './store.ts'

export function validateConfiguration(validator: Validator, caller: Caller, { type, configuration }: StoredSource): void {
  validator.check(wrapSchema(SOURCE_CONFIGURATIONS[type]), { configuration })
  const { path, paths, url, repository, schedule, allow_private_network } = configuration as Record<string, never> & { paths?: string[] }
  if (schedule) validateSchedule(schedule)
  if (url) plainAddress('configuration.url', url, 'Pages that want a login cannot be read.')
  if (paths?.length || type === 'folder' || (repository && validateRepository(repository) === 'local'))
    adminsOnly(caller, "name paths on the daemon's disk")
  if (path) checkAbsolute(path)
  if (allow_private_network) adminsOnly(caller, 'let a source read the private network')
}

/** The same schema one level down, so that errors name configuration.… */
const wrappedSchemas = new Map<object, never>()
function wrapSchema(schema: object): never {
  if (!wrappedSchemas.has(schema)) wrappedSchemas.set(schema, { type: 'object', properties: { configuration: schema } } as never)
  return wrappedSchemas.get(schema) as never
}

/** The daemon stands somewhere else than who asks. */
function checkAbsolute(path: string): void {
  if (!isAbsolute(path)) throw createValidationError('configuration.path', `must be an absolute path, not "${path}"`)
}

const CRON_NICKNAMES = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']
const SCHEDULE_HINT = 'For example "0 3 * * *" is every night at three: minute, hour, day of the month, month, day of the week.'

/** Nothing is worth being read again every second, and other programs take a sixth field for the year. */
function validateSchedule(schedule: string): void {
  const fields = schedule.trim().split(/\s+/)
  if (fields.length !== 5 && !CRON_NICKNAMES.includes(schedule.trim().toLowerCase()))
    throw createValidationError(
      'configuration.schedule',
      `must be a cron expression of five fields; this one has ${fields.length}`,
      SCHEDULE_HINT,
    )
  try {
    new Cron(schedule, { paused: true, mode: '5-part' }).stop()
  } catch (cause) {
    throw Object.assign(createValidationError('configuration.schedule', 'is not a cron expression', SCHEDULE_HINT), { cause })
  }
}

/** git takes options and helper programs where an address is expected; only plain addresses and paths get through. */
function validateRepository(repository: string): 'local' | 'remote' {
  if (/^[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[^\s:][^\s]*$/.test(repository)) return 'remote'
  if (/^(\/|[A-Za-z]:[\\/])/.test(repository)) return 'local'
  if (!/^(https?|ssh|git):\/\/[^\s]+$/i.test(repository) || !URL.canParse(repository) || new URL(repository).hostname === '')
    throw createValidationError('configuration.repository', 'must be an https, ssh or git address or an absolute path')
  const { protocol, username, password } = new URL(repository)
  // ssh needs to know as whom; with all else a name alone may be a token, too.
  if (password !== '' || (username !== '' && protocol !== 'ssh:'))
    throw createValidationError(
      'configuration.repository',
      'must not hold a user name, password or token',
      protocol === 'ssh:' ? SSH_AUTH_HINT : AUTH_HINT,
    )
  return 'remote'
}

const AUTH_HINT =
  'Give them as auth, such as {"type": "basic", "username": "git", "password": "<TOKEN>"}: there they are sealed, and never shown.'
const SSH_AUTH_HINT = "ssh proves itself with the keys of the daemon's user."
