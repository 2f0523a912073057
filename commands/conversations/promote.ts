import { string as text } from '@oclif/core/flags'
import { getConversation } from '../../src/cli/conversations/get-conversation.ts'
import { resolveResource } from '../../src/cli/resources/resolve-references.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { call } from '../../src/client/call.ts'
import { evaluationRoutes } from '../../src/contract/families/evaluations.ts'
import { isComplete } from '../../src/contract/schemas/messages.ts'

export default class ConversationsPromote extends ResourceCommand {
  static override description =
    'Add a reply to an evaluation as a test case.\n\n' +
    'The question becomes the input, the reply the expected output, and the cited documents the expected sources. Uses the last reply ' +
    'unless --message names another.'
  static override examples = [
    {
      command: "cadre conversations promote conv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --to 'Leave questions'",
      description: 'Add the last reply',
    },
  ]
  static override args = { conversation: createIdArgument(conversationTopic) }
  static override flags = {
    to: text({ required: true, description: 'ID or name of the evaluation.', helpValue: '<evaluation>' }),
    message: text({ description: 'ID of the reply.', helpValue: '<message>' }),
    expect: text({ description: 'Expected output instead of the reply.', helpValue: '<text>' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConversationsPromote)
    const { connection, id } = await this.connectTo(conversationTopic, args.conversation, flags)
    const { messages } = await getConversation(connection, id)
    const index = messages.findLastIndex(
      (message) => message.role === 'assistant' && (flags.message === undefined || message.id === flags.message),
    )
    const reply = messages[index]
    const question = messages.slice(0, index).findLast(({ role }) => role === 'user')
    if (!reply || !question)
      throw new UsageError(flags.message ? `This conversation has no reply ${flags.message}.` : 'This conversation has no reply yet.')
    const isUnfinished = reply.content.trim() === '' || !isComplete(reply)
    if (isUnfinished && flags.expect === undefined)
      throw new UsageError(
        `The reply ${reply.id} was not finished, so it cannot be used as the expected output.`,
        'Set the expected output with --expect, or ask again.',
      )
    const cited = (reply.citations ?? []).filter((citation) => citation.cited)
    const evaluation = await resolveResource(connection, evaluationTopic, flags.to)
    const test = {
      input: question.content,
      expected_output: flags.expect ?? reply.content,
      ...(cited.length > 0 ? { expected_sources: [...new Set(cited.map(({ source }) => source))] } : {}),
      metadata: {
        conversation_id: id,
        message_id: reply.id,
        ...(cited.length > 0 ? { passages: cited.map(({ source, page, content }) => ({ source, page, content })) } : {}),
      },
    }
    const { data } = await call(connection, evaluationRoutes.append, { params: { id: evaluation }, body: { test_cases: [test] } })
    this.notify(`Added a test case to ${data.name}, which now has ${data.test_cases.length}.`)
    await this.printUnlessTable(test, flags)
  }
}
