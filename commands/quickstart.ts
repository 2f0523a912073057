/** The first minutes with Cadre in one go: a model, documents in, an agent made, a question answered with its sources, the chat. */
import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import { answerText } from '../src/cli/ask/format-answer.ts'
import { missingQuestion } from '../src/cli/ask/missing-question.ts'
import { canChat, openChat } from '../src/cli/ask/open-chat.ts'
import { took } from '../src/cli/knowledge/follow-sync.ts'
import { folderProblem } from '../src/cli/knowledge/inspect-folder.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import type { Guide } from '../src/cli/quickstart/documentation-agent.ts'
import { answerFrom, askForQuestion, interview, prepare } from '../src/cli/quickstart/quickstart.ts'
import { paint } from '../src/cli/terminal/color.ts'
import { UsageError } from '../src/cli/terminal/errors.ts'
import { ProgressDisplay } from '../src/cli/terminal/progress-bar.ts'
import { canAsk } from '../src/cli/terminal/prompts.ts'
import { quoted } from '../src/cli/terminal/shell-quote.ts'
import { paperFor } from '../src/cli/terminal/table.ts'
import { oneLine } from '../src/cli/terminal/text.ts'
import { call } from '../src/client/call.ts'
import type { Connection } from '../src/client/request.ts'
import { ragToolRoutes } from '../src/contract/families/rag-tools.ts'

const QUESTION = 'Where are secrets such as API keys stored?'

export default class Quickstart extends CadreCommand {
  static override description =
    "See Cadre work: start the daemon, index documents, ask a question.\n\nAt a terminal it offers the models it finds on the machine, asks for a folder (Enter takes Cadre's own documentation), makes an agent that answers from it, asks it the first question, and opens the chat. Elsewhere it asks nothing: it reads the folder that is named, or the documentation, and answers --question from it. Nothing is made twice when it is run again."
  static override examples = [
    { command: 'cadre quickstart', description: 'With whatever you choose' },
    { command: 'cadre quickstart ./handbook', description: 'With a folder of yours' },
    {
      command: "cadre quickstart ./handbook --question 'How many days of leave are there?'",
      description: 'And a question to answer, also in a script',
    },
    { command: 'cadre quickstart --no-chat', description: 'Ends with the first answer' },
  ]
  static override args = { path: string({ ignoreStdin: true, description: "Folder to read; Cadre's own documentation when left out." }) }
  static override flags = {
    question: text({ description: 'What to ask first, instead of asking you for it.', helpValue: '<text>' }),
    name: text({ description: 'What to call the documents and the agent; as the folder when left out.', helpValue: '<text>' }),
    chat: boolean({ default: true, allowNo: true, description: 'Open the chat in the end, at a terminal; --no-chat does not.' }),
    quiet: boolean({ char: 'q', description: 'No progress, and no questions.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Quickstart)
    // Before a daemon is started and anything is made.
    const problem = args.path === undefined ? undefined : await folderProblem(args.path)
    if (problem) throw new UsageError(problem.message, problem.hint)
    if (flags.question?.trim() === '')
      throw missingQuestion(`cadre quickstart${args.path === undefined ? '' : ` ${quoted(args.path)}`} --question`)
    const pretty = this.formatOf(flags) === 'table'
    const asking = pretty && !flags.quiet && canAsk()
    const display = new ProgressDisplay(flags.quiet)
    try {
      display.show({ label: 'Looking for the daemon', done: 0, total: null, unit: '' })
      this.narrate = display.say
      const connection = { ...(await this.connect(flags)), narrate: display.say }
      const stage = { connection, display }
      const path = asking ? await interview(stage, args.path) : args.path
      const began = Date.now()
      const prepared = await prepare(stage, { path, name: flags.name, root: this.config.root })
      const { agent, tool } = prepared
      const question = flags.question ?? (path === undefined ? QUESTION : undefined)
      if (asking && agent) return await this.#converse(connection, { agent, path, question }, flags)
      const answer = question !== undefined && tool ? await quote(connection, tool.id, question) : undefined
      display.clear()
      const seconds = (Date.now() - began) / 1000
      if (!pretty) return await this.print({ data: { ...prepared, tool: tool ?? null, agent: agent ?? null, ...answer, seconds } }, flags)
      if (answer)
        process.stdout.write(
          `\n${paint('bold', oneLine(answer.query), process.stdout)}\n\n${answerText(answer, paperFor(process.stdout))}\n`,
        )
      display.say(`\n${paint('dim', `All of this took ${took(seconds * 1000)}.`)}`)
      if (agent) display.say(next(agent, path))
    } finally {
      display.end()
    }
  }

  async #converse(connection: Connection, { agent, path, question }: Talk, flags: { chat: boolean; start?: boolean }): Promise<void> {
    if (question !== undefined) process.stdout.write(`\n${paint('bold', oneLine(question), process.stdout)}\n\n`)
    const asked = question ?? (await askForQuestion())
    const conversation = asked === '' ? undefined : await answerFrom(connection, agent, asked)
    if (flags.chat && canChat()) {
      const chatting = { paths: this.paths, root: this.config.root, start: flags.start !== false, narrate: this.narrate }
      await openChat(chatting, conversation === undefined ? { agent: agent.id } : { conversation, told: true })
    }
    this.narrate(next(agent, path))
  }
}

interface Talk {
  agent: Guide
  path: string | undefined
  /** Undefined where the person is asked for it. */
  question: string | undefined
}

async function quote(connection: Connection, id: string, query: string) {
  return (await call(connection, ragToolRoutes.query, { params: { id }, body: { query, top_k: 3 } })).data
}

function next({ name }: Guide, path: string | undefined): string {
  const agent = quoted(name)
  const steps = [
    ['Ask it something', `cadre ask ${agent} "${path === undefined ? 'How many requests a minute are allowed?' : '…'}"`],
    ['Talk with it', `cadre chat ${agent}`],
    ...(path === undefined ? [['The same with documents of yours', 'cadre quickstart ./handbook']] : []),
    ['See everything else', 'cadre --help'],
  ]
  return `\n${steps.map(([what, command]) => `${what}\n  ${paint('bold', command ?? '')}`).join('\n')}`
}
