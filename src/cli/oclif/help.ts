/** Help that reads like a manual page: what Cadre is, what there is to do, and how scripts use it. */
import type { Command } from '@oclif/core/command'
import { CommandHelp, Help } from '@oclif/core/help'
import type * as Interfaces from '@oclif/core/interfaces'
import { homePaths } from '../../config.ts'
import { asTyped, invocation } from '../terminal/invocation.ts'
import { formatWelcome, isFirstRun } from './first-run-screen.ts'
import { describeService, formatHomeScreen } from './home-screen.ts'

const SERVICE_TOPICS = new Set(['daemon', 'config', 'tokens', 'webhooks', 'usage'])

/** What someone who has just installed it should type. */
const FIRST_COMMAND = 'quickstart'

const EXAMPLES = [
  ['See it answer a question from documents', 'cadre quickstart'],
  [
    'Add your own documents and ask them something',
    'cadre knowledge add ./handbook && cadre rag query handbook "How many days of leave do I have?"',
  ],
  ['Look around', 'cadre status'],
  ['Add a model of a local server', "cadre models create --name 'Local Llama' --provider ollama --model-id llama3.2"],
  [
    'Make an agent that uses them, and ask it',
    'cadre agents create --name Helper --tool handbook && cadre ask Helper "Who approves travel?"',
  ],
  ['Ask about something on stdin, with a model of yours', 'cat build.log | cadre ask Helper "What broke?"'],
  ['Keep everything in git, and bring it back', 'cadre export --to ./cadre && cadre apply -f ./cadre'],
  ['For scripts', "cadre agents list --all --json | jq -r '.[].id'"],
  ['Any endpoint of the service', 'cadre api GET /agents'],
]

const ENVIRONMENT: [string, string][] = [
  ['CADRE_HOME', 'Where everything is kept.'],
  ['CADRE_URL', 'A service somewhere else; it is never started from here.'],
  ['CADRE_TOKEN', 'The token to send; at the first start of a daemon, its admin token.'],
  ['CADRE_PORT', 'Port of the daemon, 7411 when left out.'],
  ['CADRE_RATE_LIMIT', 'Requests a minute a token; 0 is no limit.'],
  ['CADRE_MODEL_SERVERS', 'Addresses where the daemon looks for model servers, instead of the usual ones; none is nowhere.'],
  ['OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY', "Keys that cadre models discover offers, in the daemon's environment."],
  ['NO_COLOR, FORCE_COLOR', 'No colours, or colours without a terminal.'],
]

const EXIT_CODES: [string, string][] = [
  ['0', 'Done.'],
  ['1', 'Failed.'],
  ['2', 'Called in a way that cannot work.'],
  ['3', 'Not found.'],
  ['4', 'Not authenticated, or not allowed.'],
  ['5', 'The daemon cannot be reached.'],
  ['7', 'Rate limited, and waiting did not help.'],
  ['100', 'An evaluation stayed under its bar, or a plan with --check has changes.'],
]

/** Words are broken below this. */
const MIN_COLUMNS = 24

/** The page of one command. */
class CadreCommandHelp extends CommandHelp {
  constructor(...given: ConstructorParameters<typeof CommandHelp>) {
    super(...given)
    this.render = withInvocation(this.render)
  }

  /** Every flag in one line is more than anybody reads: those that are needed, and the list below for the rest. */
  protected override defaultUsage(): string {
    const { id, args, flags } = this.command
    const named = Object.values(args ?? {}).map(({ name, required, multiple }) => {
      const word = `${name.toUpperCase()}${multiple ? '...' : ''}`
      return required ? word : `[${word}]`
    })
    const needed = Object.entries(flags ?? {}).flatMap(([name, flag]) =>
      flag.required && flag.type === 'option' ? [`--${name} ${flag.helpValue ?? '<value>'}`] : [],
    )
    return [id.replaceAll(':', ' '), ...named, ...needed, '[flags]'].join(' ')
  }

  /** Each on a line of its own, however long: a break inside of quotes could not be pasted into a shell. */
  protected override examples(examples: Command.Example[] | string | undefined): string | undefined {
    const shown = [examples ?? []].flat().map((example) => {
      if (typeof example === 'string') return this.indent(`$ ${this.render(example)}`)
      return `${this.wrap(example.description, 2 * this.indentSpacing)}\n\n${this.indent(`$ ${this.render(example.command)}`)}`
    })
    return shown.length === 0 ? undefined : shown.join('\n\n')
  }
}

/** What is laid out holds commands as they can be typed here, so that lines break where they should. */
function withInvocation(render: (text: string) => string): (text: string) => string {
  const typed = invocation()
  return (text) => asTyped(render(text), typed)
}

/** oclif 4.14 lays out lists two columns wider than it is told, and never narrower than 40. */
export function getHelpWidth({ isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): number {
  return Math.max(MIN_COLUMNS, (isTTY && columns > 0 ? columns : 80) - 2)
}

export class CadreHelp extends Help {
  protected override CommandHelpClass = CadreCommandHelp

  constructor(config: Interfaces.Config, options: Partial<Interfaces.HelpOptions> = {}) {
    super(config, { maxWidth: getHelpWidth(process.stdout), ...options })
    this.render = withInvocation(this.render)
  }

  /** oclif breaks everything but the first line. */
  protected override formatTopic(topic: Interfaces.Topic): string {
    const [first = '', ...rest] = super.formatTopic(topic).split('\n')
    return [this.wrap(first), ...rest].join('\n')
  }

  protected override async showRootHelp(): Promise<void> {
    if (process.argv.length <= 2) return this.#showHomeScreen()
    const topLevelTopics = this.#topics
    const typed = invocation()
    const list = (rows: [string, string | undefined][]) =>
      this.renderList(rows, { indentation: 2, spacer: '\n', stripAnsi: this.opts.stripAnsi ?? false })
    const described = (names: typeof topLevelTopics) => list(names.map(({ name, description }) => [name, description]))
    const isTopic = (id: string) => topLevelTopics.some(({ name }) => name === id)
    const commands = this.sortedCommands
      .filter(({ id }) => !id.includes(':') && !isTopic(id))
      .sort((a, b) => Number(b.id === FIRST_COMMAND) - Number(a.id === FIRST_COMMAND))
    const sections = [
      `cadre – ${this.config.pjson.description}`,
      this.section('USAGE', `$ ${typed} <topic> <verb> [flags]\n$ ${typed} <command> [flags]`),
      this.section('START HERE', `$ cadre ${FIRST_COMMAND}`),
      this.section(
        'DESCRIPTION',
        this.wrap(
          'Cadre runs conversational AI agents over your documents. Commands talk to a local daemon, which they start when it is not running; nothing leaves the machine unless a model that you added says so.\n\nData goes to stdout, everything else to stderr. --json works everywhere, names work wherever identifiers do, and - reads stdin.',
        ),
      ),
      this.section(
        'RESOURCES',
        `Each has list, show, create, update and delete.\n\n${described(topLevelTopics.filter(({ name }) => !SERVICE_TOPICS.has(name)))}`,
      ),
      this.section('THE SERVICE', described(topLevelTopics.filter(({ name }) => SERVICE_TOPICS.has(name)))),
      this.section('COMMANDS', list(commands.map((command) => [command.id, this.summary(command)]))),
      this.section('EXAMPLES', EXAMPLES.map(([what, command]) => `${what}\n\n  $ ${command}`).join('\n\n')),
      this.section('ENVIRONMENT', list(ENVIRONMENT)),
      this.section('EXIT CODES', list(EXIT_CODES)),
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
