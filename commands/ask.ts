/** Asks an agent, and prints its reply as it comes. */
import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import { followAtTerminal, type Reply } from '../src/cli/ask/follow-reply.ts'
import { onStdin, questionFrom, stdinGiven } from '../src/cli/ask/question-input.ts'
import { agentAndQuestion, askCommand, conversationFor, isAgent, quotingModel } from '../src/cli/ask/target.ts'
import { InputReader } from '../src/cli/input/input-reader.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { paint } from '../src/cli/terminal/color.ts'
import { oneLine } from '../src/cli/terminal/text.ts'
import { readSettings } from '../src/config.ts'

export default class Ask extends CadreCommand {
  static override description =
    'Ask an agent something, and print its reply as it comes.\n\nWithout AGENT the one that cadre config set agent names is asked, or the only one there is. What is piped in goes along with the question, and so does the text of a file named with @, to a model that you added: the embedded one only quotes documents. Without a question, or with -, what is piped in is the question, also after the name of an agent.\n\nThe reply goes to stdout and the passages it cites follow it, numbered as in the text; --no-citations leaves them out. What the agent does meanwhile is told on stderr. A tool that asks first is allowed or refused at the terminal; where there is none it is refused, unless --allow-tools is given. Ctrl+C aborts the reply. Every question begins a conversation, unless it goes on in one.'
  static override examples = [
    { command: 'cadre ask "How many days of leave do I have?"', description: 'The only agent, or the one that is set' },
    { command: 'cadre ask \'Handbook helper\' "Who approves travel?"', description: 'One by name' },
    {
      command: 'cat build.log | cadre ask Helper "What broke?"',
      description: 'About something on stdin, which the embedded model does not read',
    },
    { command: 'cadre ask "What is wrong in @src/parser.ts?"', description: 'About a file' },
    { command: 'cadre ask --continue "And how do I mend it?"', description: 'Go on in your last conversation' },
    {
      command: 'cadre ask "Who is Ada?" --json | jq -rj \'select(.event == "message_delta").data.text\'',
      description: 'Events, one a line, for a script',
    },
  ]
  static override usage = 'ask [AGENT] QUESTION [flags]'
  static override args = {
    question: string({
      multiple: true,
      ignoreStdin: true,
      description: 'What to ask, after the agent where one is named; - reads it from stdin.',
    }),
  }
  static override flags = {
    agent: text({ char: 'a', description: 'Identifier or name of the agent; all words are then the question.', helpValue: '<text>' }),
    conversation: text({
      char: 'c',
      description: 'Go on in this conversation, by identifier or title.',
      helpValue: '<text>',
      exclusive: ['agent', 'continue'],
    }),
    continue: boolean({ description: 'Go on in your last conversation; with --agent in the last one with that agent.' }),
    'allow-tools': boolean({ description: 'Allow every tool that asks first.' }),
    citations: boolean({ default: true, allowNo: true, description: 'Print what the reply cites after it; --no-citations does not.' }),
    full: boolean({ description: 'Whole passages instead of the part that fits best.' }),
    stdin: boolean({
      default: true,
      allowNo: true,
      description: 'Read what is piped in; --no-stdin leaves it alone, as in a loop that reads it itself.',
    }),
    quiet: boolean({ char: 'q', description: 'Nothing on stderr but errors.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Ask)
    const target = { agent: flags.agent, conversation: flags.conversation, goOn: flags.continue, preferred: readSettings(this.paths).agent }
    const { agent, words } = agentAndQuestion(args.question ?? [], target)
    const asked = await questionFrom({
      words,
      reader: new InputReader(),
      stdin: flags.stdin,
      narrate: this.narrate,
      command: askCommand({ ...target, agent }),
    })
    if (flags.quiet) this.narrate = () => undefined
    const connection = await this.connect(flags)
    const onlyAgent = (await isAgent(connection, words, { ...target, agent })) ? words[0] : undefined
    const question =
      onlyAgent === undefined ? asked : onStdin(asked.context, askCommand({ ...target, agent: onlyAgent }), flags.stdin && stdinGiven())
    for (const missing of question.missing) this.narrate(`${oneLine(missing)} It is sent as text.`)
    const conversation = await conversationFor(
      connection,
      { ...target, agent: onlyAgent ?? agent, guessed: flags.agent === undefined },
      words.join(' '),
    )
    const quoting = question.along.length > 0 ? await quotingModel(connection, conversation) : undefined
    if (quoting !== undefined) {
      const along = oneLine(question.along.join(', '))
      this.narrate(
        `${oneLine(quoting)} only quotes the agent's documents, and does not read ${along}: it is asked without. cadre models discover looks for one that reads it.`,
      )
    }
    const message = quoting === undefined ? question.message : question.text
    const json = this.formatOf(flags) === 'json'
    const { citations, full, quiet } = flags
    const view = { question: question.text, citations, full, quiet, json, tools: flags['allow-tools'] ? 'allow' : 'ask' } as const
    const reply = await followAtTerminal(connection, { conversation, message }, view)
    if (!quiet && !json && process.stderr.isTTY) this.narrate(`\n${paint('dim', footer(reply))}`)
  }
}

function footer({ usage, latency_ms }: Reply): string {
  const parts = [
    usage ? `${usage.total_tokens.toLocaleString('en')} tokens` : '',
    latency_ms === undefined ? '' : `${(latency_ms / 1000).toFixed(1)} s`,
    '--continue goes on',
  ]
  return parts.filter(Boolean).join(' · ')
}
