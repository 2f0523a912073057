import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import { formatFoundConversation } from '../../src/cli/conversations/format-search.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveReferences } from '../../src/cli/resources/resolve-references.ts'
import { fetchNames } from '../../src/cli/resources/resource-names.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { createPagingFlags, createQuery, fetchList, formatFooter } from '../../src/cli/resources/verbs/list.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { parsePeriod, periodFlags } from '../../src/cli/usage/period-flags.ts'
import { type ConversationSearchItem, conversationRoutes, conversations } from '../../src/contract/families/conversations.ts'
import { getSortableFields } from '../../src/contract/schemas/list-query.ts'

export default class ConversationsSearch extends CadreCommand {
  static override description =
    'Search the text of all messages.\n\n' +
    'Finds conversations with a message that contains all words, without regard to case and accents. Words of three or more letters ' +
    'also match the beginning of a word; use double quotes for a phrase.'
  static override examples = [
    { command: 'cadre conversations search annual leave', description: 'Find messages that contain both words' },
    {
      command: `cadre conversations search '"annual leave"' --agent 'Handbook helper'`,
      description: 'Find a phrase in one agent’s conversations',
    },
    { command: 'cadre conversations search budget --days 7', description: 'Search the messages of the last week' },
    { command: "cadre conversations search budget --all --json | jq -r '.[].id'", description: 'Print the IDs of all conversations found' },
  ]
  static override usage = 'conversations search QUERY [flags]'
  static override args = { query: string({ multiple: true, required: true, ignoreStdin: true, description: 'Words to search for.' }) }
  static override flags = {
    agent: text({ description: 'Search only conversations with this agent.', helpValue: '<name>' }),
    mine: boolean({ description: 'Search only your own conversations.' }),
    ...periodFlags,
    days: { ...periodFlags.days, description: 'Search only messages of this number of days up to today.' },
    ...createPagingFlags(getSortableFields(conversations.resource, conversations.computedFields)),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConversationsSearch)
    const hasPeriod = flags.days !== undefined || flags.from !== undefined || flags.to !== undefined
    const period = hasPeriod ? parsePeriod(flags).query : {}
    const connection = await this.connect(flags)
    const agent =
      flags.agent === undefined ? {} : await resolveReferences(connection, conversationTopic.references, { agent_id: flags.agent })
    const query = { ...createQuery(flags), ...period, ...agent, ...(flags.mine ? { mine: true } : {}), q: args.query.join(' ') }
    const page = await fetchList(connection, conversationRoutes.list, {}, query, flags.all)
    if (this.getFormat(flags) !== 'table') return this.print({ data: page.data, columns: conversationTopic.columns }, flags)
    if (page.data.length === 0) return this.notify('No messages match.')
    const found = page.data as unknown as ConversationSearchItem[]
    const agents = await fetchNames(
      connection,
      found.map(({ agent_id }) => agent_id).filter((id) => id !== null),
    )
    const output = getOutput(process.stdout)
    process.stdout.write(`${found.map((item) => formatFoundConversation(item, agents, output).join('\n')).join('\n\n')}\n`)
    this.notify(formatFooter(page))
  }
}
