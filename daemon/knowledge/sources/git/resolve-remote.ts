/** Resolves the remote of a repository: checks its address with the outbound guard and makes git use the checked address. */
import { CadreError, createValidationError } from '../../../../src/contract/errors.ts'
import type { SourceAuth } from '../../../../src/contract/schemas/source-configurations.ts'
import { splitUrlCredentials } from '../../../../src/contract/url-credentials.ts'
import { formatAuthorization, redactCredentials } from '../../../outbound/authorization.ts'
import type { Outbound } from '../../../outbound/client.ts'
import { Redactor } from '../../../secrets/redactor.ts'

export interface Remote {
  address: string
  protocols: string[]
  settings: string[]
  environment: Record<string, string>
  /** Removes credentials from the output of git, which may contain text of the server. */
  redact(text: string): string
}

interface RemoteOptions {
  outbound: Outbound
  allowPrivateNetwork: boolean
  signal: AbortSignal
  auth: SourceAuth
}

/** Returns undefined for a remote repository. */
export function resolveLocalPath(repository: string): string | undefined {
  return /^(\/|[A-Za-z]:[\\/])/.test(repository) ? repository : undefined
}

export async function resolveRemote(repository: string, options: RemoteOptions): Promise<Remote> {
  const scpLike = /^([A-Za-z0-9_.-]+)@([A-Za-z0-9.-]+):([^\s:][^\s]*)$/.exec(repository)
  if (scpLike) return resolveSshRemote(scpLike[2] as string, `${scpLike[1]}@${scpLike[2]}:${scpLike[3]}`, options)
  const held = splitUrlCredentials(repository)
  const url = URL.canParse(repository) ? new URL(held?.address ?? repository) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:')
    return resolveHttpRemote(url, held && options.auth.type === 'none' ? { ...options, auth: { type: 'basic', ...held.login } } : options)
  if (url?.protocol === 'ssh:') return resolveSshRemote(url.hostname, url.href, options)
  if (url?.protocol === 'git:') return resolveGitRemote(url, options)
  throw createValidationError('configuration.repository', 'must be an https, ssh or git URL or an absolute path')
}

/** Pins the checked addresses, because git resolves the name itself. Follows redirects first. */
async function resolveHttpRemote(source: URL, options: RemoteOptions): Promise<Remote> {
  const { outbound, allowPrivateNetwork, auth } = options
  await outbound.resolveAddresses(source.hostname, allowPrivateNetwork)
  const authorization = auth.type === 'none' ? undefined : formatAuthorization(auth)
  const url = await followRedirects(source, authorization, options)
  const addresses = await outbound.resolveAddresses(url.hostname, allowPrivateNetwork)
  const protocol = url.protocol.slice(0, -1)
  const port = url.port || (protocol === 'https' ? '443' : '80')
  const isLiteral = url.hostname.startsWith('[') || addresses.includes(url.hostname)
  const resolved = addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',')
  const pinned = isLiteral ? [] : [`http.curloptResolve=${url.hostname}:${port}:${resolved}`]
  return {
    address: url.href,
    protocols: [protocol],
    // A proxy would resolve the name again.
    settings: ['http.proxy=', ...pinned],
    environment: {
      NO_PROXY: '*',
      no_proxy: '*',
      ...(authorization === undefined ? {} : createHeaderEnvironment(`http.${url.origin}/.extraHeader`, authorization)),
    },
    redact: createRedact(auth),
  }
}

/** Passes the header through the environment, where neither the process list nor a file shows it (git 2.31). */
const createHeaderEnvironment = (name: string, authorization: string): Record<string, string> => ({
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: name,
  GIT_CONFIG_VALUE_0: `Authorization: ${authorization}`,
})

function createRedact(auth: SourceAuth): Remote['redact'] {
  const redactor = new Redactor()
  if (auth.type !== 'none') redactCredentials(redactor, auth)
  // Some servers accept a token as the user name.
  if (auth.type === 'basic') redactor.add(auth.username)
  return (text) => redactor.redactKnown(text)
}

const REFS_PATH = '/info/refs'

/** Returns the URL after redirects. Credentials are never sent to another origin. Other errors are left to git. */
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
    const response = await outbound.request(probe, { headers, allowPrivateNetwork, signal, timeoutMs: 30_000, shouldReadBody: () => false })
    const end = new URL(response.url)
    if (response.status !== 200 || end.href === probe.href || !end.pathname.endsWith(REFS_PATH)) return url
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

/** Connects to the checked address with the host key of the name. */
async function resolveSshRemote(host: string, address: string, { outbound, allowPrivateNetwork }: RemoteOptions): Promise<Remote> {
  if (!/^[A-Za-z0-9.-]+$|^\[[0-9A-Fa-f:.]+\]$/.test(host) || host.startsWith('-'))
    throw createValidationError('configuration.repository', 'has an invalid host name')
  // ssh would read it as an option.
  if (/^(ssh:\/\/)?(-|%2d)/i.test(address)) throw createValidationError('configuration.repository', 'has an invalid user name')
  const [checked] = await outbound.resolveAddresses(host, allowPrivateNetwork)
  const command = `ssh -o BatchMode=yes -o ConnectTimeout=20 -o HostName=${checked} -o HostKeyAlias=${host.replace(/[[\]]/g, '')}`
  return {
    address,
    protocols: ['ssh'],
    settings: [],
    environment: { GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: 'ssh' },
    redact: (text) => text,
  }
}

/** The git protocol has no option to pin an address, so the URL contains it. */
async function resolveGitRemote(url: URL, { outbound, allowPrivateNetwork }: RemoteOptions): Promise<Remote> {
  const [checked = ''] = await outbound.resolveAddresses(url.hostname, allowPrivateNetwork)
  const host = checked.includes(':') ? `[${checked}]` : checked
  const address = `git://${host}${url.port ? `:${url.port}` : ''}${url.pathname}`
  return { address, protocols: ['git'], settings: ['core.gitProxy='], environment: {}, redact: (text) => text }
}
