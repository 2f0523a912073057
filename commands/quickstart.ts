import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import { formatCitedAnswer } from '../src/cli/ask/format-cited-answer.ts'
import { canOpenChat, openChat } from '../src/cli/ask/open-chat.ts'
import { createMissingQuestionError } from '../src/cli/ask/read-question.ts'
import { validateFolder } from '../src/cli/knowledge/inspect-folder.ts'
import { CadreCommand, type GlobalFlags } from '../src/cli/oclif/base-command.ts'
import { askAgent, askForModelAndFolder, askForQuestion, prepareAgent } from '../src/cli/quickstart/quickstart.ts'
import { paint } from '../src/cli/terminal/color.ts'
import { formatMilliseconds } from '../src/cli/terminal/format-quantity.ts'
import { ProgressDisplay } from '../src/cli/terminal/progress-bar.ts'
import { canPrompt } from '../src/cli/terminal/prompts.ts'
import { quoteShellWord } from '../src/cli/terminal/shell-quote.ts'
import { getOutput } from '../src/cli/terminal/table.ts'
import { sanitizeLine } from '../src/cli/terminal/text.ts'
import { call } from '../src/client/call.ts'
import type { Connection } from '../src/client/request.ts'
import type { Agent } from '../src/contract/families/agents.ts'
import { ragToolRoutes } from '../src/contract/families/rag-tools.ts'

const QUESTION = 'Where are secrets such as API keys stored?'

export default class Quickstart extends CadreCommand {
  static override description =
    'Create an agent that answers from a folder, and ask it a first question.\n\n' +
    'At a terminal, guides you through choosing a model and a folder, then opens the chat. In scripts it does not prompt: it ' +
    "indexes PATH, or Cadre's documentation, and answers --question."
  static override examples = [
    { command: 'cadre quickstart', description: 'Choose a model and a folder interactively' },
    { command: 'cadre quickstart ./handbook', description: 'Use your own folder' },
    {
      command: "cadre quickstart ./handbook --question 'How many days of leave are there?'",
      description: 'Ask a question, also in a script',
    },
    { command: 'cadre quickstart --no-chat', description: 'Exit after the first answer' },
  ]
  static override args = { path: string({ ignoreStdin: true, description: "Folder to index (default: Cadre's documentation)." }) }
  static override flags = {
    question: text({ description: 'First question, instead of prompting for it.', helpValue: '<text>' }),
    name: text({ description: 'Name of the source and the agent (default: the folder name).', helpValue: '<text>' }),
    chat: boolean({ default: true, allowNo: true, description: 'Open the chat at the end; --no-chat exits instead.' }),
    quiet: boolean({ char: 'q', description: 'No progress and no prompts.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Quickstart)
    // Validates the arguments before starting a daemon.
    const problem = args.path === undefined ? undefined : await validateFolder(args.path)
    if (problem) throw problem
    if (flags.question?.trim() === '')
      throw createMissingQuestionError(`cadre quickstart${args.path === undefined ? '' : ` ${quoteShellWord(args.path)}`} --question`)
    const pretty = this.getFormat(flags) === 'table'
    const asking = pretty && !flags.quiet && canPrompt()
    const display = new ProgressDisplay(flags.quiet)
    this.showProgress = undefined
    try {
      display.show({ label: 'Connecting to the daemon', done: 0, total: null, unit: '' })
      this.notify = display.log
      const connection = { ...(await this.connect(flags)), notify: display.log }
      const stage = { connection, display }
      const path = asking ? await askForModelAndFolder(stage, args.path) : args.path
      const began = Date.now()
      const prepared = await prepareAgent(stage, { path, name: flags.name, root: this.config.root })
      const { agent, tool } = prepared
      const question = flags.question ?? (path === undefined ? QUESTION : undefined)
      if (asking && agent) return await this.#converse(connection, { agent, path, question }, flags)
      const answer = question !== undefined && tool ? await quote(connection, tool.id, question) : undefined
      display.clear()
      const seconds = (Date.now() - began) / 1000
      if (!pretty) return await this.print({ data: { ...prepared, tool: tool ?? null, agent: agent ?? null, ...answer, seconds } }, flags)
      if (answer) {
        const text = formatCitedAnswer(answer, { output: getOutput(process.stdout) })
        process.stdout.write(`\n${paint('bold', sanitizeLine(answer.query), process.stdout)}\n\n${text}\n`)
      }
      display.log(`\n${paint('dim', `Finished in ${formatMilliseconds(seconds * 1000)}.`)}`)
      if (agent) display.log(next(agent, path))
    } finally {
      display.end()
    }
  }

  async #converse(connection: Connection, { agent, path, question }: Talk, flags: GlobalFlags & { chat: boolean }): Promise<void> {
    if (question !== undefined) process.stdout.write(`\n${paint('bold', sanitizeLine(question), process.stdout)}\n\n`)
    const firstQuestion = question ?? (await askForQuestion())
    const conversation = firstQuestion === '' ? undefined : await askAgent(connection, agent, firstQuestion)
    if (flags.chat && canOpenChat()) {
      const { profile, start } = flags
      const chatting = { paths: this.paths, profile, root: this.config.root, start: start !== false, notify: this.notify }
      await openChat(chatting, conversation === undefined ? { agent: agent.id } : { conversation, isAlreadyPrinted: true })
    }
    this.notify(next(agent, path))
  }
}

interface Talk {
  agent: Agent
  path: string | undefined
  /** Undefined: prompt for it. */
  question: string | undefined
}

async function quote(connection: Connection, id: string, query: string) {
  return (await call(connection, ragToolRoutes.query, { params: { id }, body: { query, top_k: 3 } })).data
}

function next({ name }: Agent, path: string | undefined): string {
  const agent = quoteShellWord(name)
  const steps = [
    ['Ask a question', `cadre ask ${agent} "${path === undefined ? 'How many requests a minute are allowed?' : '…'}"`],
    ['Chat', `cadre chat ${agent}`],
    ...(path === undefined ? [['Use your own documents', 'cadre quickstart ./handbook']] : []),
    ['See all commands', 'cadre --help'],
  ]
  return `\n${steps.map(([purpose, command]) => `${purpose}\n  ${paint('bold', command ?? '')}`).join('\n')}`
}
