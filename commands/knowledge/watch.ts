import { setTimeout as wait } from 'node:timers/promises'
import { boolean } from '@oclif/core/flags'
import { followSync, formatNotices, startSync } from '../../src/cli/knowledge/follow-sync.ts'
import { formatIndexed, formatSkipped, formatUnreadable } from '../../src/cli/knowledge/format-statistics.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { paint } from '../../src/cli/terminal/color.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { toFailure } from '../../src/cli/terminal/failures/describe-failure.ts'
import { formatFailure } from '../../src/cli/terminal/failures/format-failure.ts'
import { formatCount } from '../../src/cli/terminal/format-quantity.ts'
import { ProgressDisplay } from '../../src/cli/terminal/progress-bar.ts'
import { quoteShellWord } from '../../src/cli/terminal/shell-quote.ts'
import { sanitizeLine } from '../../src/cli/terminal/text.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { documentRoutes } from '../../src/contract/families/documents.ts'
import { type KnowledgeSource, knowledgeSourceRoutes } from '../../src/contract/families/knowledge-sources.ts'

/** Poll interval; shorter ones could exceed the rate limit. */
const POLL_MS = 1_500

const MAX_NAMED_DOCUMENTS = 3

export default class KnowledgeWatch extends ResourceCommand {
  static override description =
    'Watch a folder and index changes as they happen.\n\n' +
    'Reports every sync until Ctrl+C; the daemon keeps watching until you run the command with --off.'
  static override examples = [
    { command: 'cadre knowledge watch Handbook', description: 'Watch a folder and report changes' },
    { command: 'cadre knowledge watch Handbook --off', description: 'Stop watching' },
  ]
  static override args = { source: createIdArgument(knowledgeTopic) }
  static override flags = {
    off: boolean({ description: 'Stop watching.' }),
    follow: boolean({
      default: true,
      allowNo: true,
      description: 'Report every sync until Ctrl+C.',
    }),
    quiet: boolean({ char: 'q', description: 'Hide progress.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeWatch)
    this.showProgress = undefined
    const { connection, id } = await this.connectTo(knowledgeTopic, args.source, flags)
    const source = await setWatch(connection, id, !flags.off)
    const name = quoteShellWord(source.name)
    if (flags.off) this.notify(`Stopped watching ${source.name}. To sync it: cadre knowledge sync ${name}`)
    else this.notify(`Watching ${String(source.configuration.path)}. To stop: cadre knowledge watch ${name} --off`)
    await this.printUnlessTable(source, flags)
    if (!flags.off && flags.follow) await followChanges(connection, id, new ProgressDisplay(flags.quiet))
  }
}

async function setWatch(connection: Connection, id: string, watch: boolean): Promise<KnowledgeSource> {
  const { data: source } = await call(connection, knowledgeSourceRoutes.get, { params: { id } })
  if (source.type !== 'folder')
    throw new UsageError(
      `Only folders can be watched; ${source.name} is a source of type ${source.type}.`,
      "Sync it on a schedule instead: cadre knowledge add TARGET --schedule '0 * * * *'",
    )
  if ((source.configuration.watch === true) === watch) return source
  const body = { configuration: { ...source.configuration, watch } }
  return (await call(connection, knowledgeSourceRoutes.update, { params: { id }, body })).data
}

async function followChanges(connection: Connection, id: string, display: ProgressDisplay): Promise<never> {
  const loggingConnection = { ...connection, notify: display.log }
  const { data: before } = await call(loggingConnection, knowledgeSourceRoutes.get, { params: { id } })
  await startSync(loggingConnection, id)
  let source = await reportSync(loggingConnection, before, display)
  for (;;) {
    await wait(POLL_MS)
    const { data: now } = await call(loggingConnection, knowledgeSourceRoutes.get, { params: { id } })
    // A sync that started and ended between two polls only changed last_sync.
    if (now.status === 'syncing' || now.last_sync !== source.last_sync || now.error !== source.error)
      source = await reportSync(loggingConnection, source, display)
  }
}

async function reportSync(connection: Connection, before: KnowledgeSource, display: ProgressDisplay): Promise<KnowledgeSource> {
  const say = (line: string) => display.log(`${paint('dim', new Date().toTimeString().slice(0, 8))} ${line}`)
  try {
    const { source } = await followSync(connection, before, display)
    say(await describeChanges(connection, before, source))
    for (const line of await formatNotices(connection, source)) display.log(line)
    return source
  } catch (error) {
    const failure = toFailure(error)
    if (failure.code === 'UNREACHABLE') throw error
    // A missing folder may come back, so watching continues.
    say(formatFailure(failure))
    return (await call(connection, knowledgeSourceRoutes.get, { params: { id: before.id } })).data
  }
}

/** Describes the documents that were read or deleted since the last sync. */
async function describeChanges(
  connection: Connection,
  before: KnowledgeSource,
  { id, name, statistics }: KnowledgeSource,
): Promise<string> {
  const since = before.last_sync ?? ''
  const query = { sort: 'updated_at', order: 'desc', limit: 100 } as const
  const { data } = await call(connection, documentRoutes.list, { params: { id }, query })
  const read = data.filter(({ updated_at }) => updated_at > since)
  const deleted = before.statistics.documents + read.filter(({ created_at }) => created_at > since).length - statistics.documents
  const names = read.slice(0, MAX_NAMED_DOCUMENTS).map((document) => sanitizeLine(document.name))
  const more = read.length - names.length
  const parts = [
    ...(names.length > 0
      ? [`read ${names.join(', ')}${more > 0 ? ` and ${more === 100 - MAX_NAMED_DOCUMENTS ? 'many' : more} more` : ''}`]
      : []),
    ...(deleted > 0 && read.length < 100 ? [`${formatCount(deleted, 'document')} deleted`] : []),
  ]
  const total = `${formatIndexed(statistics)}${formatUnreadable(statistics)}${formatSkipped(statistics)}`
  return `${paint('bold', sanitizeLine(name))}: ${parts.length > 0 ? parts.join('; ') : 'no changes'}; total ${total}.`
}
