import { string } from '@oclif/core/args'
import { parseToken, parseUrl } from '../src/cli/daemon/config-settings.ts'
import { InputReader, promptSecret } from '../src/cli/input/input-reader.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { confirm, yesFlag } from '../src/cli/terminal/confirm.ts'
import { UsageError } from '../src/cli/terminal/failures/command-errors.ts'
import { createAgent, isLoopback, resolveSelectedProfile } from '../src/client/address.ts'
import { call } from '../src/client/call.ts'
import { checkService } from '../src/client/connect.ts'
import { isProfileName, storeProfile } from '../src/client/profiles.ts'
import { CadreError, handleError } from '../src/contract/errors.ts'
import { agentRoutes } from '../src/contract/families/agents.ts'

const MAX_TOKEN_BYTES = 10_000

export default class Login extends CadreCommand {
  static override description =
    'Log in to a remote service.\n\n' +
    'Reads a token from stdin or a hidden prompt, checks it, and stores it with the address as a profile: in the keychain, or in ' +
    'a file that only you can read. Commands then use this profile; see cadre profiles.'
  static override examples = [
    { command: 'cadre login https://cadre.example.com', description: 'Log in; the profile is named cadre.example.com' },
    { command: 'cadre login https://cadre.example.com --profile team < token.txt', description: 'Read the token from a file' },
    { command: 'cadre --profile team agents list', description: 'Use the profile for one command' },
  ]
  static override args = { url: string({ required: true, ignoreStdin: true, description: 'Address of the service.' }) }

  static override flags = { yes: yesFlag }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Login)
    const url = parseServiceUrl(args.url)
    const name = flags.profile ?? createProfileName(url)
    if (!isProfileName(name))
      throw new UsageError(
        `"${name}" cannot be the name of a profile.`,
        'Use up to 64 letters, digits, dots, hyphens and underscores; local is the daemon of this machine.',
      )
    if (url.startsWith('http:') && !isLoopback(url)) {
      this.notify(`${url} is not encrypted: others in the network can read the token.`)
      await confirm('Send the token anyway?', flags.yes, 'Nothing was sent.')
    }
    await checkService(url, 'Check the URL, and that the daemon runs and accepts connections from this machine.', this.notify)
    const token = await readToken(url)
    const connection = { url, token, agent: createAgent(this.paths, url), notify: this.notify }
    await call(connection, agentRoutes.list, { query: { limit: 1 } }).catch(handleError('UNAUTHENTICATED', rejectToken))
    const location = await storeProfile(this.paths, name, url, token)
    this.notify(
      `Logged in to ${url}. The token is stored in ${location === 'keychain' ? 'the keychain' : this.paths.profiles}. Commands now use ` +
        `the profile "${name}". To use the local daemon: cadre profiles use local`,
    )
    if (resolveSelectedProfile(this.paths) !== name) this.notify('In this shell, CADRE_URL or CADRE_PROFILE takes precedence.')
    await this.printUnlessTable({ name, url, token: location }, flags)
  }
}

function parseServiceUrl(text: string): string {
  const url = parseUrl(text)
  const { username, password } = new URL(text)
  if (username !== '' || password !== '') throw new UsageError('The URL must not contain a user name or password.')
  return url
}

/** The host, and the port if it is not the default. */
const createProfileName = (url: string): string => new URL(url).host.replace(/[^A-Za-z0-9.]+/g, '-').replace(/^-/, '')

async function readToken(url: string): Promise<string> {
  const tooLong = () => new UsageError('The token is too long.')
  const text = process.stdin.isTTY
    ? await promptSecret(`Token for ${url}: `)
    : (await new InputReader().readStdin('The token', MAX_TOKEN_BYTES, tooLong)).toString('utf8')
  const token = text.trim()
  if (token === '') throw new UsageError('No token was given.', 'Type it at the prompt, or pass it on stdin: cadre login URL < token.txt')
  return parseToken(token)
}

function rejectToken(cause: CadreError): never {
  const hint = 'An admin can create one: cadre tokens create --name NAME --role editor'
  throw new CadreError('UNAUTHENTICATED', 'The service rejects the token. Nothing was stored.', { hint, cause })
}
