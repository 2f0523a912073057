/** `cadre ask`: asks an agent and streams its reply. */
import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import { getLastQuestion } from '../src/cli/ask/get-last-question.ts'
import { printReply } from '../src/cli/ask/print-reply.ts'
import { createQuestionFromStdin, hasStdin, readQuestion } from '../src/cli/ask/read-question.ts'
import {
  findQuotingModel,
  formatAskCommand,
  isAgentName,
  resolveConversation,
  splitAgentAndQuestion,
  type Target,
} from '../src/cli/ask/resolve-target.ts'
import { InputReader } from '../src/cli/input/input-reader.ts'
import { CadreCommand, type GlobalFlags } from '../src/cli/oclif/base-command.ts'
import { paint } from '../src/cli/terminal/color.ts'
import { UsageError } from '../src/cli/terminal/errors.ts'
import { formatTokens } from '../src/cli/terminal/format-quantity.ts'
import { sanitizeLine } from '../src/cli/terminal/text.ts'
import { findDefaultAgent } from '../src/client/default-agent.ts'
import type { ReplyRequest } from '../src/client/follow-reply.ts'
import type { Connection } from '../src/client/request.ts'
import type { Message } from '../src/contract/schemas/messages.ts'

interface AskFlags extends GlobalFlags {
  'allow-tools': boolean
  citations: boolean
  full: boolean
  quiet: boolean
}

export default class Ask extends CadreCommand {
  static override description =
    'Ask an agent a question and stream its reply.\n\n' +
    'Without AGENT, the agent set with cadre config set agent is asked, or the only one. Piped input and files named with @ are ' +
    'sent with the question; without a question, the piped input is the question.'
  static override examples = [
    { command: 'cadre ask "How many days of leave do I have?"', description: 'Ask the default agent' },
    { command: 'cadre ask \'Handbook helper\' "Who approves travel?"', description: 'Ask an agent by name' },
    {
      command: 'cat build.log | cadre ask Helper "What broke?"',
      description: 'Ask about piped input (the embedded model does not read it)',
    },
    { command: 'cadre ask "What is wrong in @src/parser.ts?"', description: 'Ask about a file' },
    { command: 'cadre ask --continue "And how do I fix it?"', description: 'Continue your last conversation' },
    { command: 'cadre ask --retry', description: 'Answer your last message again after an error' },
    {
      command: 'cadre ask "Who is Ada?" --json | jq -rj \'select(.event == "message_delta").data.text\'',
      description: 'Stream events as JSON lines',
    },
  ]
  static override usage = 'ask [AGENT] QUESTION [flags]'
  static override args = {
    question: string({
      multiple: true,
      ignoreStdin: true,
      description: 'Question to ask, optionally after an agent name; - reads it from stdin.',
    }),
  }
  static override flags = {
    agent: text({ char: 'a', description: 'Agent to ask, by ID or name; all arguments are then the question.', helpValue: '<text>' }),
    conversation: text({
      char: 'c',
      description: 'Continue this conversation, by ID or title.',
      helpValue: '<text>',
      exclusive: ['agent', 'continue'],
    }),
    continue: boolean({ description: 'Continue your last conversation; with --agent, the last one with that agent.' }),
    retry: boolean({
      description: 'Answer the last message of your last conversation again if its reply failed, was aborted or was interrupted.',
      exclusive: ['continue'],
    }),
    'allow-tools': boolean({ description: 'Approve all tool calls that need confirmation.' }),
    citations: boolean({
      default: true,
      allowNo: true,
      description: 'Print the cited passages after the reply; --no-citations omits them.',
    }),
    full: boolean({ description: 'Print whole passages instead of excerpts.' }),
    stdin: boolean({
      default: true,
      allowNo: true,
      description: 'Read piped input; --no-stdin ignores it, for example in a shell loop that reads stdin.',
    }),
    quiet: boolean({ char: 'q', description: 'Print only errors on stderr.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Ask)
    const target = {
      agent: flags.agent,
      conversation: flags.conversation,
      continueLast: flags.continue || flags.retry,
      configuredAgent: findDefaultAgent(this.paths, flags.profile),
    }
    if (flags.retry) {
      if (args.question?.length)
        throw new UsageError('--retry takes no question.', 'It answers the last message of the conversation again.')
      return this.#retry(target, flags)
    }
    const { agent, words } = splitAgentAndQuestion(args.question ?? [], target)
    const asked = await readQuestion({
      words,
      reader: new InputReader(),
      stdin: flags.stdin,
      notify: this.notify,
      command: formatAskCommand({ ...target, agent }),
    })
    if (flags.quiet) this.notify = () => undefined
    const connection = await this.connect(flags)
    const onlyAgent = (await isAgentName(connection, words, { ...target, agent })) ? words[0] : undefined
    const question =
      onlyAgent === undefined
        ? asked
        : createQuestionFromStdin(asked.stdin, formatAskCommand({ ...target, agent: onlyAgent }), flags.stdin && hasStdin())
    for (const missing of question.missingFiles) this.notify(`${sanitizeLine(missing)} Sent as plain text.`)
    const conversation = await resolveConversation(
      connection,
      { ...target, agent: onlyAgent ?? agent, isAgentGuessed: flags.agent === undefined },
      words.join(' '),
    )
    const quoting = question.attachments.length > 0 ? await findQuotingModel(connection, conversation) : undefined
    if (quoting !== undefined) {
      const along = sanitizeLine(question.attachments.join(', '))
      this.notify(
        `${sanitizeLine(quoting)} only quotes the agent's documents and cannot read ${along}, which was not sent. Add a model ` +
          'that can: cadre models discover --add',
      )
    }
    const message = quoting === undefined ? question.message : question.text
    await this.#print(connection, { conversation, message }, question.text, flags)
  }

  async #retry(target: Target, flags: AskFlags): Promise<void> {
    if (flags.quiet) this.notify = () => undefined
    const connection = await this.connect(flags)
    const conversation = await resolveConversation(connection, target, '')
    const { question, isAnswered } = await getLastQuestion(connection, conversation)
    if (isAnswered) this.notify('The last message already has a complete reply:')
    await this.#print(connection, { conversation, retry: true }, question, flags)
  }

  async #print(connection: Connection, request: ReplyRequest, question: string, flags: AskFlags): Promise<void> {
    const json = this.getFormat(flags) === 'json'
    const { citations, full, quiet, raw } = flags
    const reply = await printReply(connection, request, {
      question,
      citations,
      full,
      quiet,
      json,
      raw,
      tools: flags['allow-tools'] ? 'allow' : 'ask',
    })
    if (!quiet && !json && process.stderr.isTTY) this.notify(`\n${paint('dim', footer(reply))}`)
  }
}

function footer({ usage, latency_ms }: Message): string {
  const parts = [
    usage ? formatTokens(usage.total_tokens, usage.estimated) : '',
    latency_ms === undefined ? '' : `${(latency_ms / 1000).toFixed(1)} s`,
    'continue with --continue',
  ]
  return parts.filter(Boolean).join(' · ')
}
