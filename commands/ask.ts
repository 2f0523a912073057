import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { prepareRequest } from '../src/cli/ask/prepare-request.ts'
import { printReply } from '../src/cli/ask/print-reply.ts'
import { resolveModel } from '../src/cli/ask/resolve-model.ts'
import { resolveConversation, type Target } from '../src/cli/ask/resolve-target.ts'
import { formatComputations, listComputations } from '../src/cli/knowledge/format-computations.ts'
import { CadreCommand, type GlobalFlags } from '../src/cli/oclif/base-command.ts'
import { paint } from '../src/cli/terminal/color.ts'
import { UsageError } from '../src/cli/terminal/failures/command-errors.ts'
import { formatTokens } from '../src/cli/terminal/format-quantity.ts'
import { call } from '../src/client/call.ts'
import { readDefaultAgent } from '../src/client/default-agent.ts'
import type { CompletionRequest } from '../src/client/follow-completion.ts'
import type { ReplyRequest } from '../src/client/follow-reply.ts'
import { removeEmptyConversation } from '../src/client/remove-empty-conversation.ts'
import type { Connection } from '../src/client/request.ts'
import { CadreError } from '../src/contract/errors.ts'
import { conversationRoutes } from '../src/contract/families/conversations.ts'
import { isComplete, type Message } from '../src/contract/schemas/messages.ts'

type AskFlags = InferredFlags<typeof Ask.flags> & GlobalFlags

export default class Ask extends CadreCommand {
  static override description =
    'Ask an agent or a model and stream the reply.\n\n' +
    'Without AGENT, the agent set with cadre config set agent is asked, or the only one, or the default model if there are no ' +
    'agents. If there are several arguments and the first is the name of an agent, it is asked, also with --model. To ask the ' +
    'model, quote the whole question. Piped input, files and images named with @ are sent with the question.'
  static override examples = [
    { command: 'cadre ask "How many days of leave do I have?"', description: 'Ask the default agent' },
    { command: 'cadre ask \'Handbook helper\' "Who approves travel?"', description: 'Ask an agent by name' },
    {
      command: 'cat build.log | cadre ask Helper "What broke?"',
      description: 'Ask about piped input (the embedded model does not read it)',
    },
    { command: 'cadre ask "What is wrong in @src/parser.ts?"', description: 'Ask about a file' },
    { command: 'cadre ask --model llama "Translate to German: @notes.txt"', description: 'Ask a model without an agent' },
    { command: 'git diff | cadre ask --system "You review code." "Any bugs?"', description: 'Give the default model instructions' },
    { command: 'cadre ask --model gpt-4o "What does @screenshot.png show?"', description: 'Ask about an image' },
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
    model: text({
      char: 'm',
      description: "Ask this model without an agent; with an agent or a conversation, instead of the agent's model.",
      helpValue: '<text>',
    }),
    system: text({
      char: 's',
      description: 'Instructions for a model without an agent; @file reads a file, - reads stdin.',
      helpValue: '<text>',
      exclusive: ['agent', 'conversation', 'continue', 'retry'],
    }),
    'allow-tools': boolean({ description: 'Approve all tool calls that need confirmation, except changes of memories.' }),
    citations: boolean({
      default: true,
      allowNo: true,
      description: 'Print the cited passages after the reply; --no-citations omits them.',
    }),
    explain: boolean({ char: 'x', description: 'Print how the reply was computed from tables: each query in words and as SQL.' }),
    full: boolean({ description: 'Print whole passages instead of excerpts.' }),
    plain: boolean({ description: 'Print the reply as the model wrote it, without rendering Markdown.' }),
    stdin: boolean({
      default: true,
      allowNo: true,
      description: 'Read piped input; --no-stdin ignores it, for example in a shell loop that reads stdin.',
    }),
    quiet: boolean({ char: 'q', description: 'Print only errors on stderr.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Ask)
    if (flags.quiet) this.muteNotices()
    this.showProgress = undefined
    const target = {
      agent: flags.agent,
      conversation: flags.conversation,
      continueLast: flags.continue || flags.retry,
      configuredAgent: readDefaultAgent(this.paths, flags.profile),
    }
    if (flags.retry) {
      if (args.question?.length)
        throw new UsageError('--retry takes no question.', 'It answers the last message of the conversation again.')
      return this.#retry(target, flags)
    }
    const { connection, request, question, newConversation } = await prepareRequest({
      words: args.question ?? [],
      target,
      model: flags.model,
      system: flags.system,
      stdin: flags.stdin,
      connect: () => this.connect(flags),
      notify: this.notify,
    })
    await this.#print(connection, request, question, flags).catch(async (error: unknown) => {
      if (newConversation !== undefined) await removeEmptyConversation(connection, newConversation)
      throw error
    })
  }

  async #retry(target: Target, flags: AskFlags): Promise<void> {
    const connection = await this.connect(flags)
    const conversation = await resolveConversation(connection, target, '')
    const { question, isAnswered } = await getLastQuestion(connection, conversation)
    if (isAnswered) this.notify('The last message already has a complete reply:')
    const model = flags.model === undefined ? {} : { model: (await resolveModel(connection, flags.model)).id }
    await this.#print(connection, { conversation, retry: true, ...model }, question, flags)
  }

  #explain(reply: Message): void {
    const lines = formatComputations(listComputations(reply))
    if (lines.length === 0) this.notify('The reply was not computed from tables.')
    else process.stdout.write(`\n${lines.join('\n')}\n`)
  }

  async #print(connection: Connection, request: ReplyRequest | CompletionRequest, question: string, flags: AskFlags): Promise<void> {
    const json = this.getFormat(flags) === 'json'
    const { citations, full, plain, quiet, raw } = flags
    const reply = await printReply(connection, request, {
      question,
      citations,
      full,
      plain,
      quiet,
      json,
      raw,
      tools: flags['allow-tools'] ? 'allow' : 'ask',
    })
    if (flags.explain && !json) this.#explain(reply)
    if (!quiet && !json && process.stderr.isTTY) this.notify(`\n${paint('dim', footer(reply, 'conversation' in request))}`)
  }
}

/** Returns the text of the last user message, and whether its reply is complete. */
async function getLastQuestion(connection: Connection, id: string): Promise<{ question: string; isAnswered: boolean }> {
  const { data } = await call(connection, conversationRoutes.messages, { params: { id }, query: { limit: 2, order: 'desc' } })
  const question = data.find(({ role }) => role === 'user')
  if (!question) throw new CadreError('NOT_FOUND', 'The conversation has no message to retry.', { hint: 'Ask a question instead.' })
  const [last = question] = data
  return { question: question.content, isAnswered: isComplete(last) }
}

function footer({ usage, latency_ms }: Message, isStored: boolean): string {
  const parts = [
    usage ? formatTokens(usage.total_tokens, usage.estimated) : '',
    latency_ms === undefined ? '' : `${(latency_ms / 1000).toFixed(1)} s`,
    isStored ? 'continue with --continue' : '',
  ]
  return parts.filter(Boolean).join(' · ')
}
