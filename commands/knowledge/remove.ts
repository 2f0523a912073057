/** Removes a knowledge source, after telling what goes with it. */
import { boolean } from '@oclif/core/flags'
import { CadreCommand } from '../../src/cli/base-command.ts'
import { confirm } from '../../src/cli/confirm.ts'
import { resolveOwn } from '../../src/cli/references.ts'
import { counted, type Source } from '../../src/cli/sync.ts'
import { oneLine } from '../../src/cli/terminal-text.ts'
import { knowledgeTopic } from '../../src/cli/topics/knowledge.ts'
import { explainConflict, yesFlag } from '../../src/cli/verbs/delete.ts'
import { readList } from '../../src/cli/verbs/list.ts'
import { ownArgument } from '../../src/cli/verbs/show.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { knowledgeSourceRoutes } from '../../src/contract/knowledge-sources.ts'
import { ragToolRoutes } from '../../src/contract/rag-tools.ts'
import { retrievalToolRoutes } from '../../src/contract/retrieval-tools.ts'

interface User {
  id: string
  name: string
  noun: string
}

export default class KnowledgeRemove extends CadreCommand {
  static override description =
    'Remove a knowledge source: its documents, its passages, and the RAG tool that knowledge add made for it.\n\nTells what goes and asks first at a terminal; elsewhere --yes is needed. What a folder, site or repository holds stays where it is. Other tools and agents that use it are named, and --force removes it from under them.'
  static override examples = [
    { command: 'cadre knowledge remove handbook', description: 'By name, after a question' },
    { command: 'cadre knowledge remove handbook --yes --force', description: 'Without one, also when agents use it' },
  ]
  static override args = { source: ownArgument(knowledgeTopic) }
  static override flags = { yes: yesFlag, force: boolean({ description: 'Remove it although it is in use, and detach it from its users.' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeRemove)
    const connection = await this.connect(flags)
    const id = await resolveOwn(connection, knowledgeTopic, args.source)
    const { data: source } = await call(connection, knowledgeSourceRoutes.get, { params: { id } })
    const users = await usersOf(connection, id)
    const own = users.find(({ noun, name }) => noun === 'RAG tool' && name === source.name)
    const others = users.filter((user) => user !== own).map((user) => `${user.noun} ${oneLine(user.name)}`)
    for (const line of accountOf(source, own)) this.narrate(line)
    // Said before anything is gone: the tool must not go when its source stays.
    if (others.length > 0 && !flags.force)
      throw new CadreError('CONFLICT', `It is in use by ${others.join(', ')}.`, {
        hint: 'cadre knowledge remove --force removes it and detaches it from them.',
      })
    if (others.length > 0) this.narrate(`${others.join(', ')} will be left without it.`)
    await confirm(`Remove ${oneLine(source.name)}?`, flags.yes)
    const query = flags.force ? { force: true } : {}
    const explain = explainConflict('knowledge remove')
    if (own) await call(connection, ragToolRoutes.remove, { params: { id: own.id }, query }).catch(explain)
    const { message } = await call(connection, knowledgeSourceRoutes.remove, { params: { id }, query }).catch(explain)
    this.narrate(message)
    if (this.formatOf(flags) !== 'table') await this.print({ data: { id, message } }, flags)
  }
}

function accountOf({ name, type, statistics, configuration }: Source, own: User | undefined): string[] {
  const { documents, chunks } = statistics
  const place = configuration.path ?? configuration.url ?? configuration.repository
  return [
    `${oneLine(name)} holds ${counted(documents, 'document')} and ${counted(chunks, 'passage')}; they go with it${own ? `, and so does the RAG tool ${oneLine(own.name)}` : ''}.`,
    ...(typeof place === 'string'
      ? [`What is at ${oneLine(place)} stays as it is.`]
      : type === 'file'
        ? ['The files they were sent from stay as they are.']
        : []),
  ]
}

async function usersOf(connection: Connection, id: string): Promise<User[]> {
  const { data: answering } = await readList(connection, ragToolRoutes.list, {}, { knowledge_source_id: id, limit: 100 }, true)
  const { data: retrieving } = await readList(connection, retrievalToolRoutes.list, {}, { limit: 100 }, true)
  const user = (noun: string) => (row: Record<string, unknown>) => ({ noun, id: String(row.id), name: String(row.name) })
  const finding = retrieving.filter(({ knowledge_source_ids }) => Array.isArray(knowledge_source_ids) && knowledge_source_ids.includes(id))
  return [...answering.map(user('RAG tool')), ...finding.map(user('retrieval tool'))]
}
