/** Watches a folder: changes are indexed as they happen. */
import { setTimeout as wait } from 'node:timers/promises'
import { boolean } from '@oclif/core/flags'
import { counted, failures, followSync, type Source, startSync } from '../../src/cli/knowledge/follow-sync.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveOwn } from '../../src/cli/resources/resolve-references.ts'
import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { ownArgument } from '../../src/cli/resources/verbs/show.ts'
import { paint } from '../../src/cli/terminal/color.ts'
import { failureOf, failureText, UsageError } from '../../src/cli/terminal/errors.ts'
import { ProgressDisplay } from '../../src/cli/terminal/progress-bar.ts'
import { quoted } from '../../src/cli/terminal/shell-quote.ts'
import { oneLine } from '../../src/cli/terminal/text.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { documentRoutes } from '../../src/contract/families/documents.ts'
import { knowledgeSourceRoutes } from '../../src/contract/families/knowledge-sources.ts'

/** Often enough for people, seldom enough for the rate limit. */
const LOOK_MS = 1_500
/** How many documents are told by name. */
const NAMED = 3

export default class KnowledgeWatch extends CadreCommand {
  static override description =
    'Index changes of a folder as they happen.\n\nTurns watching on, brings the source up to date, and tells of every synchronization until Ctrl-C. The daemon watches on after that; --off ends it.'
  static override examples = [
    { command: 'cadre knowledge watch Handbook', description: 'Watch it, and look on' },
    { command: 'cadre knowledge watch Handbook --off', description: 'Watch it no longer' },
  ]
  static override args = { source: ownArgument(knowledgeTopic) }
  static override flags = {
    off: boolean({ description: 'Watch it no longer.' }),
    follow: boolean({
      default: true,
      allowNo: true,
      description: 'Tell of every synchronization until Ctrl-C; --no-follow only turns watching on.',
    }),
    quiet: boolean({ char: 'q', description: 'No progress.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeWatch)
    const connection = await this.connect(flags)
    const id = await resolveOwn(connection, knowledgeTopic, args.source)
    const source = await turn(connection, id, !flags.off)
    const name = quoted(source.name)
    if (flags.off) this.narrate(`${source.name} is no longer watched. cadre knowledge sync ${name} brings it up to date.`)
    else this.narrate(`Watching ${String(source.configuration.path)}; cadre knowledge watch ${name} --off ends it.`)
    if (this.formatOf(flags) !== 'table') await this.print({ data: source }, flags)
    if (!flags.off && flags.follow) await follow(connection, id, new ProgressDisplay(flags.quiet))
  }
}

async function turn(connection: Connection, id: string, watch: boolean): Promise<Source> {
  const { data: source } = await call(connection, knowledgeSourceRoutes.get, { params: { id } })
  if (source.type !== 'folder')
    throw new UsageError(
      `Only folders are watched; ${source.name} is of type ${source.type}.`,
      "Read it again on a schedule: cadre knowledge add PLACE --schedule '0 * * * *'",
    )
  if ((source.configuration.watch === true) === watch) return source
  const body = { configuration: { ...source.configuration, watch } }
  return (await call(connection, knowledgeSourceRoutes.update, { params: { id }, body })).data
}

async function follow(connection: Connection, id: string, display: ProgressDisplay): Promise<never> {
  const said = { ...connection, narrate: display.say }
  const { data: before } = await call(said, knowledgeSourceRoutes.get, { params: { id } })
  await startSync(said, id)
  let source = await tell(said, before, display)
  for (;;) {
    await wait(LOOK_MS)
    const { data: now } = await call(said, knowledgeSourceRoutes.get, { params: { id } })
    // One that began and ended between two looks left only its time.
    if (now.status === 'syncing' || now.last_sync !== source.last_sync || now.error !== source.error)
      source = await tell(said, source, display)
  }
}

async function tell(connection: Connection, before: Source, display: ProgressDisplay): Promise<Source> {
  const say = (line: string) => display.say(`${paint('dim', new Date().toTimeString().slice(0, 8))} ${line}`)
  try {
    const { source } = await followSync(connection, before, display)
    say(await changes(connection, before, source))
    for (const line of await failures(connection, source)) display.say(line)
    return source
  } catch (error) {
    const failure = failureOf(error)
    if (failure.code === 'UNREACHABLE') throw error
    // A folder that is not there for a while comes back, and is watched again.
    say(failureText(failure))
    return (await call(connection, knowledgeSourceRoutes.get, { params: { id: before.id } })).data
  }
}

/** What is other than before: the names of what was read, and how many are gone. */
async function changes(connection: Connection, before: Source, { id, name, statistics }: Source): Promise<string> {
  const since = before.last_sync ?? ''
  const query = { sort: 'updated_at', order: 'desc', limit: 100 } as const
  const { data } = await call(connection, documentRoutes.list, { params: { id }, query })
  const read = data.filter(({ updated_at }) => updated_at > since)
  const gone = before.statistics.documents + read.filter(({ created_at }) => created_at > since).length - statistics.documents
  const named = read.slice(0, NAMED).map((document) => oneLine(document.name))
  const more = read.length - named.length
  const parts = [
    ...(named.length > 0 ? [`read ${named.join(', ')}${more > 0 ? ` and ${more === 100 - NAMED ? 'many' : more} more` : ''}`] : []),
    ...(gone > 0 && read.length < 100 ? [`${counted(gone, 'document')} gone`] : []),
  ]
  const holds = `${counted(statistics.documents, 'document')}, ${counted(statistics.chunks, 'passage')}`
  return `${paint('bold', oneLine(name))}: ${parts.length > 0 ? parts.join('; ') : 'nothing changed'}; it holds ${holds}.`
}
