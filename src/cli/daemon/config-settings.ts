/** Settings of `cadre config`: CLI settings, and those that the service stores. */
import { string } from '@oclif/core/args'
import { isValidToken, normalizeUrl } from '../../client/address.ts'
import { call } from '../../client/call.ts'
import { readDefaultAgent, storeDefaultAgent } from '../../client/default-agent.ts'
import { UnreachableError } from '../../client/errors.ts'
import { LOCAL_PROFILE } from '../../client/profiles.ts'
import type { Connection } from '../../client/request.ts'
import { ensureDirectory, type Paths, parseDatabaseUrl, readSettings, type Settings, writeSettings } from '../../config.ts'
import { CadreError } from '../../contract/errors.ts'
import { modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { DEFAULT_CURRENCY } from '../../contract/schemas/currency.ts'
import { parseStorageUrl } from '../../storage-settings.ts'
import { resolveName } from '../resources/resolve-references.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { FORMATS, type Format } from '../terminal/render.ts'

export const SETTINGS = {
  url: 'Address of a remote service (default: the local daemon).',
  token: 'Token to send (default: the token of the local daemon).',
  output: `Output format: ${FORMATS.join(', ')}.`,
  start: 'Whether commands start the daemon if it is not running.',
  agent: 'Default agent of cadre ask and cadre chat; each profile has its own.',
  history: 'Whether the chat stores what you type, for the next one.',
  'database-url': 'URL of a libSQL server for the records (default: a file in the home); needs a restart.',
  'storage-url': 'URL of a bucket for documents and vectors (default: folders in the home); needs a restart.',
  'database-token': 'Token of that server; stored in the keychain if there is one.',
  'default-model': 'Model of agents and RAG tools without one; stored by the service.',
  currency: 'Currency of prices and costs, such as EUR; stored by the service. Numbers stay as they are.',
} as const
export type SettingName = keyof typeof SETTINGS

export const settingArgument = string({
  required: true,
  ignoreStdin: true,
  options: Object.keys(SETTINGS),
  description: 'Name of the setting.',
})

const isStoredByService = (name: SettingName): name is 'default-model' | 'currency' => name === 'default-model' || name === 'currency'

type Connect = () => Promise<Connection>

interface SettingsContext {
  paths: Paths
  /** The profile of the --profile flag. */
  profile: string | undefined
  connect: Connect
}

/** Returns the CLI settings, with the default agent of the profile. */
export function listSettings(paths: Paths, profile: string | undefined): Settings {
  const { agent: _, ...settings } = readSettings(paths)
  const agent = readDefaultAgent(paths, profile)
  return { ...settings, ...(agent === undefined ? {} : { agent }) }
}

export async function readSetting(name: SettingName, { paths, profile, connect }: SettingsContext): Promise<string | boolean | undefined> {
  if (!isStoredByService(name)) return listSettings(paths, profile)[name]
  const { data } = await call(await connect(), systemRoutes.getSettings, {})
  return name === 'currency' ? data.currency : data.default_model_id
}

/** Returns undefined, and reports why, if the service is not available. */
export async function readServiceSettings(
  connect: Connect,
  notify: (line: string) => void,
): Promise<{ model: { id: string; name: string }; currency: string } | undefined> {
  try {
    const connection = await connect()
    const { data } = await call(connection, systemRoutes.getSettings, {})
    const { data: model } = await call(connection, modelRoutes.get, { params: { id: data.default_model_id } })
    return { model, currency: data.currency }
  } catch (error) {
    if (!(error instanceof UnreachableError || error instanceof CadreError)) throw error
    notify(`default-model and currency are not shown: ${error.message}`)
    return undefined
  }
}

export async function writeSetting(name: SettingName, text: string, { paths, profile, connect }: SettingsContext): Promise<void> {
  if (name === 'default-model') return setDefaultModel(await connect(), text)
  if (name === 'currency') {
    await call(await connect(), systemRoutes.updateSettings, { body: { currency: text.toUpperCase() } })
    return
  }
  if (name === 'agent') {
    await resolveName(await connect(), ['agent'], text) // the agent must exist
    return storeDefaultAgent(paths, profile, text)
  }
  requireNoProfile(name, profile)
  if (name === 'database-token') return storeDatabaseToken(paths, text)
  const value = parseSetting(name, text)
  await writeSettings(paths, (current) => ({ ...current, [name]: value }))
}

/** The model is a name or an ID. */
export async function setDefaultModel(connection: Connection, model: string): Promise<void> {
  const default_model_id = await resolveName(connection, ['model'], model)
  await call(connection, systemRoutes.updateSettings, { body: { default_model_id } })
}

export async function clearSetting(name: SettingName, { paths, profile, connect }: SettingsContext): Promise<void> {
  if (name === 'default-model')
    throw new UsageError('The default model cannot be unset.', 'Set another one: cadre config set default-model NAME')
  if (name === 'currency') return writeSetting(name, DEFAULT_CURRENCY, { paths, profile, connect })
  if (name === 'agent') return storeDefaultAgent(paths, profile, undefined)
  requireNoProfile(name, profile)
  if (name === 'database-token') await deleteKeychainToken(paths)
  await writeSettings(paths, ({ [name]: _, ...rest }) => rest)
}

/** Rejects --profile for a setting that is not part of a profile. */
function requireNoProfile(name: SettingName, profile: string | undefined): void {
  if (profile === undefined || profile === LOCAL_PROFILE) return
  const hint =
    name === 'url' || name === 'token' ? `To change the URL or token of a profile: cadre login URL --profile ${profile}` : undefined
  throw new UsageError(`${name} is not a setting of a profile.`, hint ?? 'Omit --profile.')
}

function parseSetting(name: keyof Settings, text: string): string | boolean {
  if (name === 'url') return parseUrl(text)
  if (name === 'output' && !FORMATS.includes(text as Format))
    throw new UsageError(`output must be one of ${FORMATS.join(', ')}, not "${text}".`)
  const isSwitch = name === 'start' || name === 'history'
  if (isSwitch && text !== 'true' && text !== 'false') throw new UsageError(`${name} must be true or false, not "${text}".`)
  if (name === 'token') return parseToken(text)
  if (name === 'database-url') return parseAddress(text, name, parseDatabaseUrl)
  if (name === 'storage-url') return parseAddress(text, name, parseStorageUrl)
  return isSwitch ? text === 'true' : text
}

function parseAddress(text: string, name: string, parse: (text: string, name: string) => string): string {
  try {
    return parse(text, name)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function storeDatabaseToken(paths: Paths, token: string): Promise<void> {
  ensureDirectory(paths.home)
  const { DATABASE_TOKEN, isKeychainAvailable, writeKeychain } = await import('../../keychain.ts')
  const isAvailable = await isKeychainAvailable(paths.home)
  if (isAvailable) await writeKeychain(paths.home, DATABASE_TOKEN, token)
  await writeSettings(paths, ({ 'database-token': _, ...rest }) => (isAvailable ? rest : { ...rest, 'database-token': token }))
}

async function deleteKeychainToken(paths: Paths): Promise<void> {
  const { DATABASE_TOKEN, deleteKeychain, KeychainError } = await import('../../keychain.ts')
  await deleteKeychain(paths.home, DATABASE_TOKEN).catch((error: unknown) => {
    if (!(error instanceof KeychainError)) throw error // without a keychain, the token is in config.json
  })
}

export function parseUrl(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new UsageError(`"${text}" is not an HTTP address.`, 'For example: http://127.0.0.1:7411')
  return normalizeUrl(text)
}

export function parseToken(text: string): string {
  if (isValidToken(text)) return text
  throw new UsageError('A token can contain only printable ASCII characters without spaces.')
}
