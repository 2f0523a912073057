/** Profiles: remote services under a name. Their tokens are in the keychain or, if there is none, in the file of the profiles. */
import { changeJsonFile, ensureDirectory, type Paths, readJsonFile } from '../config.ts'
import { CadreError } from '../contract/errors.ts'
import { suggestWord } from '../contract/suggest.ts'

/** The daemon of this home. */
export const LOCAL_PROFILE = 'local'
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export interface Profile {
  /** Root URL of the service, without /api. */
  url: string
  /** Only if there is no keychain. */
  token?: string
  /** Default agent of `ask` and `chat`. */
  agent?: string
}

interface Profiles {
  /** The profile of commands without --profile. */
  current?: string
  profiles: Record<string, Profile>
}

export const isProfileName = (name: string): boolean => PROFILE_NAME.test(name) && name !== LOCAL_PROFILE

export function readProfiles(paths: Paths): Profiles {
  return { profiles: {}, ...(readJsonFile(paths.profiles) as Partial<Profiles>) }
}

export function requireProfile(paths: Paths, name: string): Profile {
  const { profiles } = readProfiles(paths)
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile) return profile
  const near = suggestWord(name, [LOCAL_PROFILE, ...Object.keys(profiles)])
  const suggestion = near === undefined ? '' : `Did you mean ${near}? `
  throw new CadreError('NOT_FOUND', `There is no profile "${name}".`, {
    hint: `${suggestion}To list profiles: cadre profiles list. To create one: cadre login URL --profile NAME`,
  })
}

/** Stores the profile and makes it current. Returns where its token is stored. */
export async function storeProfile(paths: Paths, name: string, url: string, token: string): Promise<'keychain' | 'file'> {
  ensureDirectory(paths.home)
  const { isKeychainAvailable, writeKeychain } = await import('../keychain.ts')
  const isAvailable = await isKeychainAvailable(paths.home)
  // The URL is stored with the token, so that the token cannot be sent elsewhere by changing the file.
  if (isAvailable) await writeKeychain(paths.home, getKeychainName(name), JSON.stringify({ url, token }))
  await changeProfiles(paths, ({ profiles }) => {
    const agent = profiles[name]?.url === url ? profiles[name]?.agent : undefined
    const profile = { url, ...(isAvailable ? {} : { token }), ...(agent === undefined ? {} : { agent }) }
    return { current: name, profiles: { ...profiles, [name]: profile } }
  })
  return isAvailable ? 'keychain' : 'file'
}

/** Deletes the token before the profile, so that an interruption leaves no token behind. */
export async function deleteProfile(paths: Paths, name: string, notify: (line: string) => void): Promise<void> {
  if (requireProfile(paths, name).token === undefined) {
    const { deleteKeychain, KeychainError } = await import('../keychain.ts')
    await deleteKeychain(paths.home, getKeychainName(name)).catch((error: unknown) => {
      if (!(error instanceof KeychainError)) throw error
      notify(`The token of "${name}" stays in the keychain. ${error.message}`)
    })
  }
  await changeProfiles(paths, ({ current, profiles: { [name]: _, ...profiles } }) => ({
    ...(current === undefined || current === name ? {} : { current }),
    profiles,
  }))
}

export async function readProfileToken(paths: Paths, name: string): Promise<string> {
  const { url, token } = requireProfile(paths, name)
  if (token !== undefined) return token
  const { readKeychain } = await import('../keychain.ts')
  const entry = await readKeychain(paths.home, getKeychainName(name))
  const stored = entry === undefined ? undefined : (JSON.parse(entry) as { url: string; token: string })
  if (stored?.url === url) return stored.token
  throw new CadreError(
    'UNAUTHENTICATED',
    stored ? `The token of the profile "${name}" belongs to another URL.` : `The keychain no longer contains the token of "${name}".`,
    { hint: `Log in again: cadre login ${url} --profile ${name}` },
  )
}

export async function changeProfiles(paths: Paths, change: (current: Profiles) => Profiles): Promise<void> {
  await changeJsonFile<Profiles>(paths.profiles, (stored) => change({ ...stored, profiles: stored.profiles ?? {} }))
}

const getKeychainName = (name: string): string => `profile-${name}`
