/** The help of `cadre`, its topics and its commands. */
import type { Command } from '@oclif/core/command'
import { CommandHelp, Help } from '@oclif/core/help'
import type * as Interfaces from '@oclif/core/interfaces'
import { homePaths } from '../../config.ts'
import { getInvocation, rewriteCommands } from '../terminal/invocation.ts'
import { formatWelcome, isFirstRun } from './first-run-screen.ts'
import { describeService, formatHomeScreen } from './home-screen.ts'
import { wrapHelp } from './wrap-help.ts'

const SERVICE_TOPICS = new Set(['daemon', 'config', 'mcp', 'memory', 'profiles', 'tokens', 'webhooks', 'usage'])

/** Listed first for new users. */
const FIRST_COMMAND = 'quickstart'

const EXAMPLES = [
  ['Try Cadre with a folder of documents', 'cadre quickstart'],
  [
    'Add documents and ask a question about them',
    'cadre knowledge add ./handbook && cadre rag query handbook "How many days of leave do I have?"',
  ],
  ['Show the state of the service', 'cadre status'],
  ['Add a model of a local server', "cadre models create --name 'Local Llama' --provider ollama --model-id llama3.2"],
  [
    'Create an agent that uses the documents and ask it',
    'cadre agents create --name Helper --tool handbook && cadre ask Helper "Who approves travel?"',
  ],
  ['Ask about piped input', 'cat build.log | cadre ask Helper "What broke?"'],
  ['Use Cadre from a coding agent', 'cadre mcp install claude'],
  ['Export all resources as files and apply them', 'cadre export --to ./cadre && cadre apply -f ./cadre'],
  ['List agent IDs in a script', "cadre agents list --all --json | jq -r '.[].id'"],
  ['Call an endpoint of the service', 'cadre api GET /agents'],
]

const ENVIRONMENT: [string, string][] = [
  ['CADRE_HOME', 'Directory of all data.'],
  ['CADRE_URL', 'Address of a remote service.'],
  ['CADRE_PROFILE', 'Profile to use; see cadre profiles.'],
  ['CADRE_TOKEN', 'Token to send; the admin token when a daemon starts for the first time.'],
  ['CADRE_PORT', 'Port of the daemon (default: 7411).'],
  ['CADRE_TIMEOUT_FACTOR', 'Multiplies every timeout, for a slow machine (default: 1).'],
  ['CADRE_RATE_LIMIT', 'Requests per minute per token (default: 100, and 6,000 for the admin token of the home); 0 means unlimited.'],
  ['CADRE_KEYCHAIN', 'off stores secrets in files of the home instead of the keychain.'],
  ['CADRE_LOG_LEVEL', 'Log level of the daemon: trace, debug, info, warn, error, fatal or silent.'],
  ['CADRE_DATABASE_URL', 'URL of a libSQL server for the records (default: a file in the home).'],
  ['CADRE_DATABASE_TOKEN', 'Token of that server.'],
  ['CADRE_STORAGE_URL', 'URL of a bucket for documents and vectors (default: folders in the home).'],
  ['CADRE_CACHE_MB', 'Maximum size of the local copies of a bucket, in megabytes (default: 10240).'],
  ['CADRE_VAULT_KEY', 'Key for the secrets, which daemons of one database share.'],
  ['CADRE_MODEL_SERVERS', 'Addresses at which the daemon looks for model servers, or none.'],
  ['OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY', "API keys for cadre models discover, in the daemon's environment."],
  ['NO_COLOR, FORCE_COLOR', 'Disable or force colors.'],
]

const EXIT_CODES: [string, string][] = [
  ['0', 'Success.'],
  ['1', 'Failure.'],
  ['2', 'Usage error.'],
  ['3', 'Not found.'],
  ['4', 'Not authenticated or not authorized.'],
  ['5', 'The service is not reachable.'],
  ['7', 'Rate limited, after retries.'],
  ['100', 'An evaluation failed its threshold, or plan --check found changes.'],
]

/** Narrower help would break words. */
const MIN_COLUMNS = 24

class CadreCommandHelp extends CommandHelp {
  constructor(...args: ConstructorParameters<typeof CommandHelp>) {
    super(...args)
    this.render = withInvocation(this.render)
  }

  /** Shows only required flags; all flags are listed below the usage. */
  protected override defaultUsage(): string {
    const { id, args, flags } = this.command
    const argumentNames = Object.values(args ?? {}).map(({ name, required, multiple }) => {
      const word = `${name.toUpperCase()}${multiple ? '...' : ''}`
      return required ? word : `[${word}]`
    })
    const requiredFlags = Object.entries(flags ?? {}).flatMap(([name, flag]) =>
      flag.required && flag.type === 'option' ? [`--${name} ${flag.helpValue ?? '<value>'}`] : [],
    )
    return [id.replaceAll(':', ' '), ...argumentNames, ...requiredFlags, '[flags]'].join(' ')
  }

  /** Does not wrap examples: wrapHelp does so between words. */
  protected override examples(examples: Command.Example[] | string | undefined): string | undefined {
    const sections = [examples ?? []].flat().map((example) => {
      if (typeof example === 'string') return this.indent(`$ ${this.render(example)}`)
      return `${this.wrap(example.description, 2 * this.indentSpacing)}\n\n${this.indent(`$ ${this.render(example.command)}`)}`
    })
    return sections.length === 0 ? undefined : sections.join('\n\n')
  }
}

/** Rewrites commands before the layout, so that lines wrap at the right place. */
function withInvocation(render: (text: string) => string): (text: string) => string {
  const typed = getInvocation()
  return (text) => rewriteCommands(render(text), typed)
}

/** Two columns less than the terminal: oclif 4.14 renders lists two columns too wide. */
export function getHelpWidth({ isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): number {
  return Math.max(MIN_COLUMNS, (isTTY && columns > 0 ? columns : 80) - 2)
}

export class CadreHelp extends Help {
  protected override CommandHelpClass = CadreCommandHelp

  constructor(config: Interfaces.Config, options: Partial<Interfaces.HelpOptions> = {}) {
    super(config, { maxWidth: getHelpWidth(process.stdout), ...options })
    this.render = withInvocation(this.render)
  }

  /** In a pipe, examples stay on one line. */
  protected override log(...texts: string[]): void {
    const { isTTY, columns } = process.stdout
    super.log(...(isTTY ? texts.map((text) => wrapHelp(text, Math.max(MIN_COLUMNS, columns || 80))) : texts))
  }

  protected override async showRootHelp(): Promise<void> {
    if (process.argv.length <= 2) return this.#showHomeScreen()
    const topLevelTopics = this.#topics
    const typed = getInvocation()
    const formatList = (rows: [string, string | undefined][]) =>
      this.renderList(rows, { indentation: 2, spacer: '\n', stripAnsi: this.opts.stripAnsi ?? false })
    const formatTopics = (names: typeof topLevelTopics) => formatList(names.map(({ name, description }) => [name, description]))
    const isTopic = (id: string) => topLevelTopics.some(({ name }) => name === id)
    const commands = this.sortedCommands
      .filter(({ id }) => !id.includes(':') && !isTopic(id))
      .sort((a, b) => Number(b.id === FIRST_COMMAND) - Number(a.id === FIRST_COMMAND))
    const sections = [
      this.wrap(`cadre – ${this.config.pjson.description}`),
      this.section('USAGE', `$ ${typed} <topic> <verb> [flags]\n$ ${typed} <command> [flags]`),
      this.section('START HERE', `$ cadre ${FIRST_COMMAND}`),
      this.section(
        'DESCRIPTION',
        this.wrap(
          'Cadre runs conversational AI agents over your documents. Commands use a local daemon and start it if needed. Data ' +
            'leaves the machine only for models that you add.\n\nData is printed to stdout, messages to stderr. Every command ' +
            'supports --json, names can be used instead of IDs, and - reads stdin.',
        ),
      ),
      this.section(
        'RESOURCES',
        'Most topics have list, show, create, update and delete.\n\n' +
          `${formatTopics(topLevelTopics.filter(({ name }) => !SERVICE_TOPICS.has(name)))}`,
      ),
      this.section('SERVICE', formatTopics(topLevelTopics.filter(({ name }) => SERVICE_TOPICS.has(name)))),
      this.section('COMMANDS', formatList(commands.map((command) => [command.id, this.summary(command)]))),
      this.section('EXAMPLES', EXAMPLES.map(([purpose, command]) => `${purpose}\n\n  $ ${command}`).join('\n\n')),
      this.section('ENVIRONMENT', formatList(ENVIRONMENT)),
      this.section('EXIT CODES', formatList(EXIT_CODES)),
      this.section('MORE', `$ ${typed} <topic> --help\n$ ${typed} <topic> <verb> --help`),
    ]
    this.log(`${sections.join('\n\n')}\n`)
  }

  get #topics(): Interfaces.Topic[] {
    return this.sortedTopics.filter(({ name }) => !name.includes(':'))
  }

  async #showHomeScreen(): Promise<void> {
    const paths = homePaths()
    const description = this.config.pjson.description ?? ''
    if (isFirstRun(paths)) return this.log(formatWelcome(description, process.stdout.columns || 80))
    const names = [
      ...new Set([...this.#topics.map(({ name }) => name), ...this.sortedCommands.flatMap(({ id }) => (id.includes(':') ? [] : [id]))]),
    ]
    const resources = names.filter((name) => this.sortedCommands.some(({ id }) => id === `${name}:create`))
    const others = names.filter((name) => !resources.includes(name)).sort()
    this.log(formatHomeScreen({ description, resources, others }, await describeService(paths), process.stdout.columns || 80))
  }
}
