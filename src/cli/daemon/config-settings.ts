/** The settings that `cadre config` knows: those of this command line, and the default model, which is the service's. */
import { rootOf } from '../../client/address.ts'
import { call } from '../../client/call.ts'
import { UnreachableError } from '../../client/failures.ts'
import type { Connection } from '../../client/request.ts'
import { type Paths, readSettings, type Settings, writeSettings } from '../../config.ts'
import { CadreError } from '../../contract/errors.ts'
import { modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { resolveReferences } from '../resources/resolve-references.ts'
import { UsageError } from '../terminal/errors.ts'
import { FORMATS, type Format } from '../terminal/render.ts'

export const SETTINGS = {
  url: 'Address of a service somewhere else; the local daemon when unset.',
  token: 'Token to send; the one of the local daemon when unset.',
  output: `How data is printed: ${FORMATS.join(', ')}.`,
  start: 'Whether commands start the daemon when none is running.',
  agent: 'Agent that cadre ask and cadre chat ask when none is named.',
  'default-model': 'Model of agents and RAG tools that name none; kept by the service.',
} as const
export type SettingName = keyof typeof SETTINGS
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

type Connect = () => Promise<Connection>

/** What is set, or undefined. */
export async function readSetting(name: SettingName, paths: Paths, connect: Connect): Promise<string | boolean | undefined> {
  if (name !== 'default-model') return readSettings(paths)[name]
  const { data } = await call(await connect(), systemRoutes.getSettings, {})
  return data.default_model_id
}

/** The default model, where the service can be asked for it; why it cannot is told. */
export async function defaultModel(connect: Connect, narrate: (line: string) => void): Promise<{ id: string; name: string } | undefined> {
  try {
    const connection = await connect()
    const { data } = await call(connection, systemRoutes.getSettings, {})
    return (await call(connection, modelRoutes.get, { params: { id: data.default_model_id } })).data
  } catch (error) {
    if (!(error instanceof UnreachableError || error instanceof CadreError)) throw error
    narrate(`default-model is not shown: ${error.message}`)
    return undefined
  }
}

export async function writeSetting(name: SettingName, text: string, paths: Paths, connect: Connect): Promise<void> {
  if (name === 'default-model') {
    const connection = await connect()
    const body = await resolveReferences(connection, { default_model_id: ['model'] }, { default_model_id: text })
    await call(connection, systemRoutes.updateSettings, { body: body as { default_model_id: string } })
    return
  }
  if (name === 'agent') await resolveReferences(await connect(), { agent: ['agent'] }, { agent: text }) // it must be there
  const value = checked(name, text)
  await writeSettings(paths, (current) => ({ ...current, [name]: value }))
}

export async function clearSetting(name: SettingName, paths: Paths): Promise<void> {
  if (name === 'default-model')
    throw new UsageError('There is always a default model.', 'Set another one: cadre config set default-model NAME')
  await writeSettings(paths, ({ [name]: _, ...rest }) => rest)
}

function checked(name: keyof Settings, text: string): string | boolean {
  if (name === 'url') return checkedUrl(text)
  if (name === 'output' && !FORMATS.includes(text as Format)) throw new UsageError(`output is one of ${FORMATS.join(', ')}, not "${text}".`)
  if (name === 'start' && text !== 'true' && text !== 'false') throw new UsageError(`start is true or false, not "${text}".`)
  if (name === 'token' && !/^[\x21-\x7e]+$/.test(text)) throw new UsageError('A token has neither spaces nor other than ASCII characters.')
  return name === 'start' ? text === 'true' : text
}

function checkedUrl(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new UsageError(`"${text}" is not an address.`, 'Use one like http://127.0.0.1:7411.')
  return rootOf(text)
}
