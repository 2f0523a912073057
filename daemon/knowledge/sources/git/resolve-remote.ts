/** Where a repository is fetched from: its address checked by the outbound guard, and git held to what was checked. */
import { CadreError, createValidationError } from '../../../../src/contract/errors.ts'
import type { SourceAuth } from '../../../../src/contract/families/source-configurations.ts'
import { splitUrlCredentials } from '../../../../src/contract/url-credentials.ts'
import { formatAuthorization, redactCredentials } from '../../../outbound/authorization.ts'
import type { Outbound } from '../../../outbound/client.ts'
import { Redactor } from '../../../secrets/redactor.ts'

export interface Remote {
  /** What git is given. */
  address: string
  protocols: string[]
  settings: string[]
  environment: Record<string, string>
  /** Takes what it proves itself with out of what git says, which may be the server's words. */
  redact(text: string): string
}

export interface RemoteOptions {
  outbound: Outbound
  allowPrivateNetwork: boolean
  signal: AbortSignal
  auth: SourceAuth
}

/** A path on the disk, or nothing where the repository is elsewhere. */
export function findLocalPath(repository: string): string | undefined {
  return /^(\/|[A-Za-z]:[\\/])/.test(repository) ? repository : undefined
}

export async function resolveRemote(repository: string, options: RemoteOptions): Promise<Remote> {
  const short = /^([A-Za-z0-9_.-]+)@([A-Za-z0-9.-]+):([^\s:][^\s]*)$/.exec(repository)
  if (short) return resolveSshRemote(short[2] as string, `${short[1]}@${short[2]}:${short[3]}`, options)
  const held = splitUrlCredentials(repository)
  const url = URL.canParse(repository) ? new URL(held?.address ?? repository) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:')
    return resolveHttpRemote(url, held && options.auth.type === 'none' ? { ...options, auth: { type: 'basic', ...held.login } } : options)
  if (url?.protocol === 'ssh:') return resolveSshRemote(url.hostname, url.href, options)
  if (url?.protocol === 'git:') return resolveGitRemote(url, options)
  throw createValidationError('configuration.repository', 'must be an https, ssh or git address or an absolute path')
}

/** git resolves the name itself; it is told the addresses that were checked, and redirects were followed before. */
async function resolveHttpRemote(given: URL, options: RemoteOptions): Promise<Remote> {
  const { outbound, allowPrivateNetwork, auth } = options
  await outbound.resolveAddresses(given.hostname, allowPrivateNetwork)
  const authorization = auth.type === 'none' ? undefined : formatAuthorization(auth)
  const url = await followRedirects(given, authorization, options)
  const addresses = await outbound.resolveAddresses(url.hostname, allowPrivateNetwork)
  const protocol = url.protocol.slice(0, -1)
  const port = url.port || (protocol === 'https' ? '443' : '80')
  const literal = url.hostname.startsWith('[') || addresses.includes(url.hostname)
  const pinned = literal
    ? []
    : [
        `http.curloptResolve=${url.hostname}:${port}:${addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',')}`,
      ]
  return {
    address: url.href,
    protocols: [protocol],
    // A proxy of the environment would resolve the name once more.
    settings: ['http.proxy=', ...pinned],
    environment: {
      NO_PROXY: '*',
      no_proxy: '*',
      ...(authorization === undefined ? {} : createHeaderEnvironment(`http.${url.origin}/.extraHeader`, authorization)),
    },
    redact: createRedact(auth),
  }
}

/** A setting of git that neither a list of processes nor a file shows. Older versions than 2.31 do not know of it. */
const createHeaderEnvironment = (name: string, authorization: string): Record<string, string> => ({
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: name,
  GIT_CONFIG_VALUE_0: `Authorization: ${authorization}`,
})

function createRedact(auth: SourceAuth): Remote['redact'] {
  const redactor = new Redactor()
  if (auth.type !== 'none') redactCredentials(redactor, auth)
  // Some servers take a token for the user name, whatever the password.
  if (auth.type === 'basic') redactor.add(auth.username)
  return (text) => redactor.redactKnown(text)
}

const REFS_PATH = '/info/refs'

/** The address after redirects (repositories move); whatever else is wrong with it, git will say. A login stays on its server. */
async function followRedirects(
  url: URL,
  authorization: string | undefined,
  { outbound, allowPrivateNetwork, signal }: RemoteOptions,
): Promise<URL> {
  const probe = new URL(url)
  probe.pathname = url.pathname.replace(/\/$/, '') + REFS_PATH
  probe.search = '?service=git-upload-pack'
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
  try {
    const answer = await outbound.request(probe, { headers, allowPrivateNetwork, signal, timeoutMs: 30_000, shouldReadBody: () => false })
    const end = new URL(answer.url)
    if (answer.status !== 200 || end.href === probe.href || !end.pathname.endsWith(REFS_PATH)) return url
    if (authorization !== undefined && end.origin !== url.origin) return url
    end.pathname = end.pathname.slice(0, -REFS_PATH.length)
    end.search = ''
    return end
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof CadreError && error.code === 'ADDRESS_BLOCKED') throw error
    return url
  }
}

const asItIs = (text: string): string => text

/** ssh connects to the checked address and looks for the key of the name. */
async function resolveSshRemote(host: string, address: string, { outbound, allowPrivateNetwork }: RemoteOptions): Promise<Remote> {
  if (!/^[A-Za-z0-9.-]+$|^\[[0-9A-Fa-f:.]+\]$/.test(host) || host.startsWith('-'))
    throw createValidationError('configuration.repository', 'has a host name that ssh might misread')
  const [checked] = await outbound.resolveAddresses(host, allowPrivateNetwork)
  const command = `ssh -o BatchMode=yes -o ConnectTimeout=20 -o HostName=${checked} -o HostKeyAlias=${host.replace(/[[\]]/g, '')}`
  return { address, protocols: ['ssh'], settings: [], environment: { GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: 'ssh' }, redact: asItIs }
}

/** The plain git protocol has no way to be told an address but by its own address. */
async function resolveGitRemote(url: URL, { outbound, allowPrivateNetwork }: RemoteOptions): Promise<Remote> {
  const [checked = ''] = await outbound.resolveAddresses(url.hostname, allowPrivateNetwork)
  const host = checked.includes(':') ? `[${checked}]` : checked
  const address = `git://${host}${url.port ? `:${url.port}` : ''}${url.pathname}`
  return { address, protocols: ['git'], settings: ['core.gitProxy='], environment: {}, redact: asItIs }
}
