/** Connects to the service. */
import { version } from '../version.ts'
import { isLoopback, resolveAddress, resolveCredentials } from './address.ts'
import { type EnsureOptions, ensureDaemon } from './ensure-daemon.ts'
import { UnreachableError } from './errors.ts'
import { fetchHealth } from './find-daemon.ts'
import type { Connection } from './request.ts'

export interface ConnectOptions extends EnsureOptions {
  /** The profile of the --profile flag. */
  profile?: string | undefined
  announceWait?: Connection['announceWait']
}

/** Connects to the service and starts the daemon if necessary and allowed. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { paths, profile, notify, announceWait, showProgress } = options
  const address = resolveAddress(paths, profile)
  const url = address.url ?? (await ensureDaemon(options)).url
  if (address.url !== undefined) {
    const hint =
      address.profile === undefined
        ? 'The URL is set by CADRE_URL or cadre config set url. A daemon at a configured URL is not started automatically.'
        : `The URL is that of the profile "${address.profile}". To use the local daemon: --profile local, or cadre profiles use local`
    await checkService(address.url, hint, notify)
  }
  const isSameMachine = address.profile === undefined && isLoopback(url)
  return { url, ...(await resolveCredentials(paths, address, url, notify)), notify, announceWait, showProgress, isSameMachine }
}

/** Throws an UnreachableError if no service responds, and notifies the user if its version differs. */
export async function checkService(url: string, hint: string, notify: Connection['notify']): Promise<void> {
  const health = await fetchHealth(url)
  if (!health) throw new UnreachableError(`No Cadre service responds at ${url}.`, { hint })
  if (health.version !== version) notify(`The service at ${url} is version ${health.version}, this command is ${version}.`)
}
