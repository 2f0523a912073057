/** The main job in one go: documents in, an agent made, a question answered with its sources. */
import { statSync } from 'node:fs'
import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { account, add, nothingRead } from '../src/cli/adding.ts'
import { additionsFor } from '../src/cli/additions.ts'
import { answerText } from '../src/cli/answer.ts'
import { CadreCommand } from '../src/cli/base-command.ts'
import { paint } from '../src/cli/color.ts'
import { QuietFailure, UsageError } from '../src/cli/failure.ts'
import { documentation, ensureGuide, GUIDE_TOOL } from '../src/cli/guide.ts'
import { ProgressDisplay } from '../src/cli/progress.ts'
import { outcome, took } from '../src/cli/sync.ts'
import { paperFor } from '../src/cli/table.ts'
import { isHere } from '../src/client/address.ts'
import { call } from '../src/client/call.ts'
import type { Connection } from '../src/client/request.ts'
import { ragToolRoutes } from '../src/contract/rag-tools.ts'

const QUESTION = 'Where are secrets such as API keys stored?'

const NEXT: [string, string][] = [
  ['Ask it something else', `cadre rag query ${GUIDE_TOOL.name} "How many requests a minute are allowed?"`],
  ['Add documents of yours', 'cadre knowledge add ./handbook'],
  ['Ask those', 'cadre rag query handbook "How many days of leave do I have?"'],
  ['See everything else', 'cadre --help'],
]

interface Stage {
  connection: Connection
  display: ProgressDisplay
}

export default class Quickstart extends CadreCommand {
  static override description =
    "See Cadre work: start the daemon, index documents, ask a question.\n\nWithout a path it reads Cadre's own documentation, makes an agent that knows it, and asks a question. With one it reads a folder of yours and tells how to ask. Nothing is made twice when it is run again."
  static override examples = [
    { command: 'cadre quickstart', description: "With Cadre's own documentation" },
    { command: 'cadre quickstart ./handbook', description: 'With a folder of yours' },
  ]
  static override args = { path: string({ ignoreStdin: true, description: "Folder to read; Cadre's own documentation when left out." }) }
  static override flags = { quiet: boolean({ char: 'q', description: 'No progress.' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Quickstart)
    if (args.path !== undefined && !statSync(args.path, { throwIfNoEntry: false })?.isDirectory())
      throw new UsageError(`There is no folder ${args.path}.`, 'cadre knowledge add takes files and addresses, too.')
    const began = Date.now()
    const display = new ProgressDisplay(flags.quiet)
    try {
      display.show({ label: 'Looking for the daemon', done: 0, total: null, unit: '' })
      this.narrate = display.say
      const connection = { ...(await this.connect(flags)), narrate: display.say }
      const pretty = this.formatOf(flags) === 'table'
      const data = args.path === undefined ? await this.#guide({ connection, display }, pretty) : await yours({ connection, display }, args.path)
      const seconds = (Date.now() - began) / 1000
      if (!pretty) return await this.print({ data: { ...data, seconds } }, flags)
      display.say(`\n${paint('dim', `All of this took ${took(seconds * 1000)}.`)}`)
      if (args.path === undefined) display.say(`\n${NEXT.map(([what, command]) => `${what}\n  ${paint('bold', command)}`).join('\n')}`)
    } finally {
      display.end()
    }
  }

  async #guide({ connection, display }: Stage, pretty: boolean) {
    const docs = await documentation(this.config.root, !isHere(connection.url))
    const { source, tool, synced } = await add(docs, { connection, display, tool: GUIDE_TOOL.name, description: GUIDE_TOOL.description, wait: true })
    if (synced) display.say(outcome(synced))
    if (!tool || nothingRead(source) || source.statistics.documents === 0) throw new QuietFailure()
    const agent = await ensureGuide(connection, tool.id)
    display.say(`${paint('bold', agent.name)}: an agent that answers from it.`)
    display.show({ label: 'Asking', done: 0, total: null, unit: '' })
    const { data } = await call(connection, ragToolRoutes.query, { params: { id: tool.id }, body: { query: QUESTION, top_k: 3 } })
    display.clear()
    if (pretty) process.stdout.write(`\n${paint('bold', QUESTION, process.stdout)}\n\n${answerText(data, paperFor(process.stdout))}\n`)
    return { source, tool, agent, ...data }
  }
}

async function yours({ connection, display }: Stage, path: string) {
  const [addition] = await additionsFor([path], { send: !isHere(connection.url) })
  if (!addition) throw new UsageError(`There is no folder ${path}.`)
  const added = await add(addition, { connection, display, tool: addition.name, wait: true })
  for (const line of await account(connection, added)) display.say(line)
  if (nothingRead(added.source)) throw new QuietFailure()
  return { source: added.source, tool: added.tool ?? null }
}
