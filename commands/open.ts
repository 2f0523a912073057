import { integer } from '@oclif/core/args'
import { string } from '@oclif/core/flags'
import { getLastConversation } from '../src/cli/ask/get-last-conversation.ts'
import { formatTarget, locateCitation, openCitation } from '../src/cli/ask/open-citation.ts'
import { getConversation } from '../src/cli/conversations/get-conversation.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { resolveResource } from '../src/cli/resources/resolve-references.ts'
import { conversationTopic } from '../src/cli/resources/topics/conversations.ts'
import { UsageError } from '../src/cli/terminal/failures/command-errors.ts'
import { sanitizeText } from '../src/cli/terminal/text.ts'
import type { Citation, Message } from '../src/contract/schemas/messages.ts'

export default class Open extends CadreCommand {
  static override description =
    'Open a document that the last reply cites, at the cited passage.\n\n' +
    'Text opens in the pager (PAGER, or less), other documents and web pages in the program that the system uses for them. In a pipe, ' +
    'the location and the passage are printed.'
  static override examples = [
    { command: 'cadre open 2', description: 'Open what [2] in the last reply cites' },
    { command: "cadre open 1 --conversation 'Leave in summer'", description: 'Open a citation of another conversation' },
    { command: 'cadre open 2 --json | jq -r .content', description: 'Print the passage' },
  ]
  static override args = {
    number: integer({ min: 1, default: 1, ignoreStdin: true, description: 'Number of the citation, as in [2].' }),
  }
  static override flags = {
    conversation: string({ char: 'c', description: 'Conversation, by ID or title (default: your last one).', helpValue: '<text>' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Open)
    const connection = await this.connect(flags)
    const id =
      flags.conversation === undefined
        ? (await getLastConversation(connection, undefined)).id
        : await resolveResource(connection, conversationTopic, flags.conversation)
    const citation = findCitation((await getConversation(connection, id)).messages, args.number)
    if (this.getFormat(flags) !== 'table') return this.print({ data: citation }, flags)
    const target = locateCitation(citation, this.paths)
    if (!process.stdout.isTTY)
      return void process.stdout.write(`${formatTarget(citation, target)}\n\n${sanitizeText(citation.content).trim()}\n`)
    if (citation.stale) this.notify('The document has been changed or deleted since; this is how it was.')
    if (target.kind !== 'original' || target.line === undefined) this.notify(`Opening ${formatTarget(citation, target)}`)
    await openCitation(citation, target)
  }
}

function findCitation(messages: readonly Message[], number: number): Citation {
  const citations = messages.findLast(({ role, citations = [] }) => role === 'assistant' && citations.length > 0)?.citations ?? []
  const found = citations.find(({ index }) => index === number)
  if (found) return found
  if (citations.length === 0) throw new UsageError('No reply of this conversation cites a document.')
  const numbers = citations.map(({ index }) => index).sort((a, b) => a - b)
  throw new UsageError(`The last reply with citations has no [${number}].`, `It has ${numbers.map((index) => `[${index}]`).join(', ')}.`)
}
