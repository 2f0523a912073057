import { boolean } from '@oclif/core/flags'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveResource } from '../../src/cli/resources/resolve-references.ts'
import { createIdArguments } from '../../src/cli/resources/resource-command.ts'
import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { addForceHint } from '../../src/cli/resources/verbs/delete.ts'
import { fetchList } from '../../src/cli/resources/verbs/list.ts'
import { confirm, yesFlag } from '../../src/cli/terminal/confirm.ts'
import { formatCount } from '../../src/cli/terminal/format-quantity.ts'
import { quoteShellWord } from '../../src/cli/terminal/shell-quote.ts'
import { sanitizeLine } from '../../src/cli/terminal/text.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { type KnowledgeSource, knowledgeSourceRoutes } from '../../src/contract/families/knowledge-sources.ts'
import { ragToolRoutes } from '../../src/contract/families/rag-tools.ts'
import { retrievalToolRoutes } from '../../src/contract/families/retrieval-tools.ts'

interface SourceUser {
  id: string
  name: string
  noun: string
}

interface DeletionPlan {
  source: KnowledgeSource
  /** The RAG tool that `knowledge add` created with the source. */
  ownTool: SourceUser | undefined
  /** Descriptions of the other tools that use the source. */
  others: string[]
}

export default class KnowledgeDelete extends CadreCommand {
  static override description =
    'Delete knowledge sources and their documents.\n\n' +
    'Also deletes the RAG tool that knowledge add created; the original folder, site or repository is not changed. Asks for ' +
    'confirmation; --yes skips the prompt and is required without a terminal.'
  static override examples = [
    { command: 'cadre knowledge delete handbook', description: 'Delete a source by name' },
    { command: 'cadre knowledge delete handbook --yes --force', description: 'Delete without a prompt, even if tools or agents use it' },
  ]
  static override hiddenAliases = ['knowledge:remove']
  static override args = { source: createIdArguments(knowledgeTopic) }
  static override flags = {
    yes: yesFlag,
    force: boolean({ description: 'Delete sources that are in use, and detach them from tools and agents.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeDelete)
    const connection = await this.connect(flags)
    const ids = await Promise.all(args.source.map((name) => resolveResource(connection, knowledgeTopic, name)))
    const plans = await Promise.all([...new Set(ids)].map((id) => planDeletion(connection, id)))
    for (const line of plans.flatMap(formatDeletion)) this.notify(line)
    // Checked before anything is deleted: the RAG tool must not be deleted if its source stays.
    const users = plans.flatMap(({ others }) => others)
    if (users.length > 0 && !flags.force)
      throw new CadreError('CONFLICT', `${plans.length === 1 ? 'It is' : 'They are'} in use by ${users.join(', ')}.`, {
        hint: 'To delete it and detach it from them, add --force.',
      })
    if (users.length > 0) this.notify(`It will be detached from ${users.join(', ')}.`)
    await confirm(`Delete ${plans.map(({ source }) => sanitizeLine(source.name)).join(', ')}?`, flags.yes)
    const deleted: { id: string; message: string }[] = []
    for (const { source, ownTool } of plans) {
      const message = await deleteSource(connection, source, ownTool, flags.force)
      deleted.push({ id: source.id, message })
      this.notify(message)
    }
    await this.printUnlessTable(args.source.length === 1 ? (deleted[0] ?? {}) : deleted, flags)
  }
}

async function planDeletion(connection: Connection, id: string): Promise<DeletionPlan> {
  const { data: source } = await call(connection, knowledgeSourceRoutes.get, { params: { id } })
  const users = await listUsers(connection, id)
  const ownTool = users.find(({ noun, name }) => noun === 'RAG tool' && name === source.name)
  const others = users.filter((user) => user !== ownTool)
  return { source, ownTool, others: others.map((user) => `${user.noun} ${sanitizeLine(user.name)} (${user.id})`) }
}

async function deleteSource(
  connection: Connection,
  { id, name }: DeletionPlan['source'],
  ownTool: SourceUser | undefined,
  force: boolean,
): Promise<string> {
  const query = force ? { force: true } : {}
  const explain = addForceHint(`knowledge delete ${quoteShellWord(name)}`)
  if (ownTool) await call(connection, ragToolRoutes.remove, { params: { id: ownTool.id }, query }).catch(explain)
  return (await call(connection, knowledgeSourceRoutes.remove, { params: { id }, query }).catch(explain)).message
}

function formatDeletion({ source: { name, type, statistics, configuration }, ownTool }: DeletionPlan): string[] {
  const contents = `${formatCount(statistics.documents, 'document')} and ${formatCount(statistics.chunks, 'passage')}`
  const location = configuration.path ?? configuration.url ?? configuration.repository
  return [
    `${sanitizeLine(name)} holds ${contents}, which will be deleted${ownTool ? ` with the RAG tool ${sanitizeLine(ownTool.name)}` : ''}.`,
    ...(typeof location === 'string'
      ? [`${sanitizeLine(location)} is not changed.`]
      : type === 'file'
        ? ['The original files are not changed.']
        : []),
  ]
}

async function listUsers(connection: Connection, id: string): Promise<SourceUser[]> {
  const { data: ragTools } = await fetchList(connection, ragToolRoutes.list, {}, { knowledge_source_id: id, limit: 100 }, true)
  const { data: retrievalTools } = await fetchList(connection, retrievalToolRoutes.list, {}, { limit: 100 }, true)
  const toUser = (noun: string) => (row: Record<string, unknown>) => ({ noun, id: String(row.id), name: String(row.name) })
  const users = retrievalTools.filter((tool) => Array.isArray(tool.knowledge_source_ids) && tool.knowledge_source_ids.includes(id))
  return [...ragTools.map(toUser('RAG tool')), ...users.map(toUser('retrieval tool'))]
}
