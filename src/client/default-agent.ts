/** The default agent of `ask` and `chat`: each profile has its own, because its service has other agents. */
import { type Paths, readSettings, writeSettings } from '../config.ts'
import { resolveAddress } from './address.ts'
import { changeProfiles, requireProfile } from './profiles.ts'

export function readDefaultAgent(paths: Paths, profile: string | undefined): string | undefined {
  const { profile: name } = resolveAddress(paths, profile)
  return name === undefined ? readSettings(paths).agent : requireProfile(paths, name).agent
}

/** Undefined removes it. */
export async function storeDefaultAgent(paths: Paths, profile: string | undefined, agent: string | undefined): Promise<void> {
  const change = <T extends { agent?: string }>({ agent: _, ...rest }: T) => ({ ...rest, ...(agent === undefined ? {} : { agent }) })
  const { profile: name } = resolveAddress(paths, profile)
  if (name === undefined) await writeSettings(paths, change)
  else {
    const { url, ...rest } = requireProfile(paths, name)
    await changeProfiles(paths, (current) => ({ ...current, profiles: { ...current.profiles, [name]: { url, ...change(rest) } } }))
  }
}
