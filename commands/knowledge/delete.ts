/** Deletes knowledge sources, after telling what goes with them. */
import { boolean } from '@oclif/core/flags'
import { counted, type Source } from '../../src/cli/knowledge/follow-sync.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveOwn } from '../../src/cli/resources/resolve-references.ts'
import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { explainConflict, yesFlag } from '../../src/cli/resources/verbs/delete.ts'
import { readList } from '../../src/cli/resources/verbs/list.ts'
import { ownArguments } from '../../src/cli/resources/verbs/show.ts'
import { confirm } from '../../src/cli/terminal/confirm.ts'
import { quoted } from '../../src/cli/terminal/shell-quote.ts'
import { oneLine } from '../../src/cli/terminal/text.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { knowledgeSourceRoutes } from '../../src/contract/families/knowledge-sources.ts'
import { ragToolRoutes } from '../../src/contract/families/rag-tools.ts'
import { retrievalToolRoutes } from '../../src/contract/families/retrieval-tools.ts'

interface User {
  id: string
  name: string
  noun: string
}

interface Doomed {
  source: Source
  /** The RAG tool that was made with it. */
  own: User | undefined
  /** Those who would be left without it. */
  others: string[]
}

export default class KnowledgeDelete extends CadreCommand {
  static override description =
    'Delete knowledge sources: their documents, their passages, and the RAG tool that knowledge add made with each.\n\nTells what goes and asks first at a terminal; elsewhere --yes is needed. What a folder, site or repository holds stays where it is. Other tools and agents that use them are named, and --force deletes them all the same. remove is another word for it.'
  static override examples = [
    { command: 'cadre knowledge delete handbook', description: 'By name, after a question' },
    { command: 'cadre knowledge delete handbook --yes --force', description: 'Without one, also when agents use it' },
  ]
  static override hiddenAliases = ['knowledge:remove']
  static override args = { source: ownArguments(knowledgeTopic) }
  static override flags = {
    yes: yesFlag,
    force: boolean({ description: 'Delete it although it is in use, and detach it from its users.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeDelete)
    const connection = await this.connect(flags)
    const ids = await Promise.all(args.source.map((name) => resolveOwn(connection, knowledgeTopic, name)))
    const doomed = await Promise.all([...new Set(ids)].map((id) => lookAt(connection, id)))
    for (const one of doomed) for (const line of accountOf(one)) this.narrate(line)
    // Said before anything is gone: a tool must not go when its source stays.
    const users = doomed.flatMap(({ others }) => others)
    if (users.length > 0 && !flags.force)
      throw new CadreError('CONFLICT', `${doomed.length === 1 ? 'It is' : 'They are'} in use by ${users.join(', ')}.`, {
        hint: 'cadre knowledge delete --force deletes it and detaches it from them.',
      })
    if (users.length > 0) this.narrate(`${users.join(', ')} will be left without it.`)
    await confirm(`Delete ${doomed.map(({ source }) => oneLine(source.name)).join(', ')}?`, flags.yes)
    const deleted: { id: string; message: string }[] = []
    for (const { source, own } of doomed) {
      const message = await remove(connection, source, own, flags.force)
      deleted.push({ id: source.id, message })
      this.narrate(message)
    }
    if (this.formatOf(flags) !== 'table') await this.print({ data: args.source.length === 1 ? (deleted[0] ?? {}) : deleted }, flags)
  }
}

async function lookAt(connection: Connection, id: string): Promise<Doomed> {
  const { data: source } = await call(connection, knowledgeSourceRoutes.get, { params: { id } })
  const users = await usersOf(connection, id)
  const own = users.find(({ noun, name }) => noun === 'RAG tool' && name === source.name)
  return { source, own, others: users.filter((user) => user !== own).map((user) => `${user.noun} ${oneLine(user.name)} (${user.id})`) }
}

async function remove(connection: Connection, { id, name }: Doomed['source'], own: User | undefined, force: boolean): Promise<string> {
  const query = force ? { force: true } : {}
  const explain = explainConflict(`knowledge delete ${quoted(name)}`)
  if (own) await call(connection, ragToolRoutes.remove, { params: { id: own.id }, query }).catch(explain)
  return (await call(connection, knowledgeSourceRoutes.remove, { params: { id }, query }).catch(explain)).message
}

function accountOf({ source: { name, type, statistics, configuration }, own }: Doomed): string[] {
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
