/** Help that reads like a manual page: what Cadre is, what there is to do, and how scripts use it. */
import type { Command } from '@oclif/core/command'
import { Help } from '@oclif/core/help'
import type * as Interfaces from '@oclif/core/interfaces'
import { homePaths } from '../config.ts'
import { frontPage, stateLines } from './front-page.ts'
import { asTyped, invocation } from './invocation.ts'
import { isNew, welcome } from './welcome.ts'

const SERVICE = new Set(['daemon', 'config', 'tokens', 'webhooks', 'usage'])

/** What someone who has just installed it should type. */
const FIRST = 'quickstart'

const EXAMPLES = [
  ['See it answer a question from documents', 'cadre quickstart'],
  ['Add your own documents and ask them something', 'cadre knowledge add ./handbook && cadre rag query handbook "How many days of leave do I have?"'],
  ['Look around', 'cadre status'],
  ['Add a model of a local server', "cadre models create --name 'Local Llama' --provider ollama --model-id llama3.2"],
  ['Make an agent that uses them, and ask it', 'cadre agents create --name Helper --tool handbook && cadre ask Helper "Who approves travel?"'],
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

export class CadreHelp extends Help {
  protected override async showRootHelp(): Promise<void> {
    if (process.argv.length <= 2) return this.#showFrontPage()
    const topics = this.#topics
    const list = (rows: [string, string | undefined][]) => this.renderList(rows, { indentation: 2, spacer: '\n', stripAnsi: this.opts.stripAnsi ?? false })
    const described = (names: typeof topics) => list(names.map(({ name, description }) => [name, description]))
    const isTopic = (id: string) => topics.some(({ name }) => name === id)
    const commands = this.sortedCommands.filter(({ id }) => !id.includes(':') && !isTopic(id)).sort((a, b) => Number(b.id === FIRST) - Number(a.id === FIRST))
    const sections = [
      `cadre – ${this.config.pjson.description}`,
      this.section('USAGE', '$ cadre <topic> <verb> [flags]\n$ cadre <command> [flags]'),
      this.section('START HERE', `$ cadre ${FIRST}`),
      this.section(
        'DESCRIPTION',
        this.wrap(
          'Cadre runs conversational AI agents over your documents. Commands talk to a local daemon, which they start when it is not running; nothing leaves the machine unless a model that you added says so.\n\nData goes to stdout, everything else to stderr. --json works everywhere, names work wherever identifiers do, and - reads stdin.',
        ),
      ),
      this.section('RESOURCES', `Each has list, show, create, update and delete.\n\n${described(topics.filter(({ name }) => !SERVICE.has(name)))}`),
      this.section('THE SERVICE', described(topics.filter(({ name }) => SERVICE.has(name)))),
      this.section('COMMANDS', list(commands.map((command) => [command.id, this.summary(command)]))),
      this.section('EXAMPLES', EXAMPLES.map(([what, command]) => `${what}\n\n  $ ${command}`).join('\n\n')),
      this.section('ENVIRONMENT', list(ENVIRONMENT)),
      this.section('EXIT CODES', list(EXIT_CODES)),
      this.section('MORE', '$ cadre <topic> --help\n$ cadre <topic> <verb> --help'),
    ]
    this.log(`${sections.join('\n\n')}\n`)
    this.#sayWhatCadreIs()
  }

  override async showCommandHelp(command: Command.Loadable): Promise<void> {
    await super.showCommandHelp(command)
    this.#sayWhatCadreIs()
  }

  protected override async showTopicHelp(topic: Interfaces.Topic): Promise<void> {
    await super.showTopicHelp(topic)
    this.#sayWhatCadreIs()
  }

  get #topics(): Interfaces.Topic[] {
    return this.sortedTopics.filter(({ name }) => !name.includes(':'))
  }

  async #showFrontPage(): Promise<void> {
    const paths = homePaths()
    const description = this.config.pjson.description ?? ''
    if (isNew(paths)) return this.log(asTyped(welcome(description)))
    const names = [...new Set([...this.#topics.map(({ name }) => name), ...this.sortedCommands.flatMap(({ id }) => (id.includes(':') ? [] : [id]))])]
    const resources = names.filter((name) => this.sortedCommands.some(({ id }) => id === `${name}:create`))
    const others = names.filter((name) => !resources.includes(name)).sort()
    this.log(frontPage({ description, resources, others }, await stateLines(paths), process.stdout.columns || 80))
  }

  /** Manual pages are laid out for the short name. */
  #sayWhatCadreIs(): void {
    const typed = invocation()
    if (typed !== 'cadre') this.log(`Here, cadre is: ${typed}\n`)
  }
}
