/** Signs in at MCP servers with OAuth: the authorization code flow with PKCE. Tokens are sealed in the vault. */
import { randomUUID } from 'node:crypto'
import type { AuthOptions, OAuthClientProvider } from '@modelcontextprotocol/client'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { McpServerSecrets } from '../../src/contract/families/mcp/mcp-servers.ts'
import { createGuardedFetch } from '../outbound/guarded-fetch.ts'
import type { Shared } from '../shared-services.ts'
import { createResponseLimit, TrafficLimit } from './connections/message-limit.ts'
import { createSignInError, toServerError } from './connections/server-error.ts'
import { openSecrets } from './secrets.ts'
import { readOAuthState, type StoredMcpServer, saveOAuthState, signIns } from './store.ts'

const SESSION_MS = 10 * 60_000

type Client = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
type Tokens = Awaited<ReturnType<OAuthClientProvider['tokens']>>
type Discovery = Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>

/** What is sealed for a server. */
interface OAuthState {
  client?: Client
  tokens?: Tokens
  discovery?: Discovery
  redirectUri?: string
}

/** A sign-in that waits for the redirect. It is stored, because the redirect may reach another daemon. */
interface Session {
  serverId: string
  redirectUri: string
  verifier: string
  state: OAuthState
}

type OAuthSessionsDependencies = Shared<'database' | 'vault' | 'outbound'>

export class OAuthSessions {
  readonly #dependencies: OAuthSessionsDependencies

  constructor(dependencies: OAuthSessionsDependencies) {
    this.#dependencies = dependencies
  }

  /** Provides the tokens of a server, and refreshes them. Signing in needs a person. */
  createProvider(server: StoredMcpServer): OAuthClientProvider {
    return this.#createProvider(server, {
      load: () => this.#load(server),
      save: (state) => this.#save(server, state),
      redirect: refuseRedirect(server),
      state: '',
      session: undefined,
    })
  }

  /** Returns the URL that the user opens, or null if the stored tokens are still valid. */
  async begin(server: StoredMcpServer, redirectUri: string): Promise<{ authorization_url: string | null; state: string }> {
    const { url } = requireUrl(server)
    const state = randomUUID()
    const stored = await this.#load(server)
    // A registered client is bound to its redirect address.
    const known = stored.redirectUri === redirectUri ? { client: stored.client } : {}
    const session: Session = { serverId: server.id, redirectUri, verifier: '', state: known }
    let opened: URL | undefined
    const provider = this.#createSignInProvider(server, state, session, (address) => {
      opened = address
    })
    await this.#authorize(server, provider, { serverUrl: url })
    if (opened === undefined) return { authorization_url: null, state }
    if (!/^https?:$/.test(opened.protocol)) throw new CadreError('PROVIDER_ERROR', 'The authorization URL is not an http or https URL.')
    const sealed = this.#dependencies.vault.seal(JSON.stringify(session), formatSignInContext(state))
    await signIns.insert(this.#dependencies.database, state, sealed, Date.now() + SESSION_MS)
    return { authorization_url: opened.href, state }
  }

  async finish(server: StoredMcpServer, { code, state, iss }: { code: string; state: string; iss?: string }): Promise<void> {
    const { url } = requireUrl(server)
    const session = await this.#takeSession(state)
    if (session?.serverId !== server.id)
      throw createValidationError('state', 'belongs to no open sign-in', `Start again: cadre tools login ${server.name}`)
    const provider = this.#createSignInProvider(server, state, session, refuseRedirect(server))
    await this.#authorize(server, provider, { serverUrl: url, authorizationCode: code, iss })
    await this.#save(server, { ...session.state, redirectUri: session.redirectUri })
  }

  async #authorize(server: StoredMcpServer, provider: OAuthClientProvider, options: Omit<AuthOptions, 'fetchFn'>): Promise<void> {
    const { auth } = await import('@modelcontextprotocol/client')
    const traffic = new TrafficLimit()
    const fetchFn = createGuardedFetch(this.#dependencies.outbound, {
      allowPrivateNetwork: server.allow_private_network,
      timeoutMs: server.timeout_ms,
      createLimit: createResponseLimit(traffic),
    })
    const { scope } = server.auth
    await auth(provider, { ...options, fetchFn, scope }).catch((error: unknown) => {
      throw toServerError(server, error, undefined)
    })
  }

  /** Keeps what it receives in the session until the sign-in is complete. */
  #createSignInProvider(server: StoredMcpServer, state: string, session: Session, redirect: (url: URL) => void): OAuthClientProvider {
    const save = async (next: OAuthState) => void Object.assign(session.state, next)
    return this.#createProvider(server, { load: async () => session.state, save, redirect, state, session })
  }

  #createProvider(
    server: StoredMcpServer,
    flow: {
      load(): Promise<OAuthState>
      save(state: OAuthState): Promise<void>
      redirect(url: URL): void
      state: string
      session: Session | undefined
    },
  ): OAuthClientProvider {
    const { session } = flow
    const update = async (change: OAuthState) => flow.save({ ...(await flow.load()), ...change })
    const registered = getRegisteredClient(openSecrets(this.#dependencies.vault, server).auth)
    const { scope } = server.auth
    return {
      redirectUrl: session?.redirectUri ?? 'http://127.0.0.1/callback',
      clientMetadata: {
        client_name: 'Cadre',
        redirect_uris: [session?.redirectUri ?? 'http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: registered?.client_secret === undefined ? 'none' : 'client_secret_post',
        scope,
      },
      state: () => flow.state,
      clientInformation: async () => registered ?? (await flow.load()).client,
      saveClientInformation: (client) => update({ client }),
      tokens: async () => (await flow.load()).tokens,
      saveTokens: (tokens) => update({ tokens }),
      redirectToAuthorization: (url) => flow.redirect(url),
      saveCodeVerifier: (verifier) => {
        if (session) session.verifier = verifier
      },
      codeVerifier: () => session?.verifier ?? '',
      discoveryState: async () => (await flow.load()).discovery,
      saveDiscoveryState: (discovery) => update({ discovery }),
      invalidateCredentials: async (what) => {
        const state = await flow.load()
        if (what === 'all' || what === 'client') delete state.client
        if (what === 'all' || what === 'tokens') delete state.tokens
        if (what === 'all' || what === 'discovery') delete state.discovery
        await flow.save(state)
      },
    }
  }

  async #takeSession(state: string): Promise<Session | undefined> {
    const { database, vault } = this.#dependencies
    const sealed = await signIns.take(database, state)
    return sealed === undefined ? undefined : (JSON.parse(vault.open(sealed, formatSignInContext(state))) as Session)
  }

  async #load({ id }: StoredMcpServer): Promise<OAuthState> {
    const { database, vault } = this.#dependencies
    const sealed = await readOAuthState(database, id)
    return sealed === null ? {} : (JSON.parse(vault.open(sealed, `${id}/oauth`)) as OAuthState)
  }

  async #save({ id }: StoredMcpServer, state: OAuthState): Promise<void> {
    const { database, vault } = this.#dependencies
    await saveOAuthState(database, id, vault.seal(JSON.stringify(state), `${id}/oauth`))
  }
}

const refuseRedirect = (server: StoredMcpServer) => () => {
  throw createSignInError(server)
}

const formatSignInContext = (state: string) => `oauth-sign-in/${state}`

function getRegisteredClient(auth: McpServerSecrets['auth']): { client_id: string; client_secret?: string } | undefined {
  if (auth.type !== 'oauth' || auth.client_id === undefined) return undefined
  return { client_id: auth.client_id, client_secret: auth.client_secret }
}

function requireUrl({ url, auth, name }: StoredMcpServer): { url: string } {
  if (url !== null && auth.type === 'oauth') return { url }
  throw new CadreError('CONFLICT', `The MCP server "${name}" does not use OAuth.`, {
    hint: `For a server with a url: cadre tools servers update ${name} --auth '{"type": "oauth"}'`,
  })
}
