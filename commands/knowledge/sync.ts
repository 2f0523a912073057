import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { followSync, formatNotices, formatSyncOutcome, startSync } from '../../src/cli/knowledge/follow-sync.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveResource } from '../../src/cli/resources/resolve-references.ts'
import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { fetchList } from '../../src/cli/resources/verbs/list.ts'
import { ReportedError, UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { toFailure } from '../../src/cli/terminal/failures/describe-failure.ts'
import { formatFailure } from '../../src/cli/terminal/failures/format-failure.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { type KnowledgeSource, knowledgeSourceRoutes } from '../../src/contract/families/knowledge-sources.ts'

export default class KnowledgeSync extends CadreCommand {
  static override description =
    'Sync knowledge sources: index new and changed documents and remove deleted ones.\n\n' +
    'Ctrl+C detaches and the daemon continues in the background. Use --cancel to stop a sync; the next one resumes it.'
  static override examples = [
    { command: 'cadre knowledge sync Handbook', description: 'Sync a source and wait' },
    { command: 'cadre knowledge sync --all --no-wait', description: 'Sync every source in the background' },
    { command: 'cadre knowledge sync Handbook --recognize-again', description: 'Recognise scans in languages that were added' },
    { command: 'cadre knowledge sync Handbook --cancel', description: 'Cancel a running sync' },
  ]
  static override args = {
    source: string({ ignoreStdin: true, multiple: true, description: 'ID or name of the knowledge source. Repeatable.' }),
  }
  static override flags = {
    all: boolean({ char: 'a', description: 'Sync every knowledge source.' }),
    wait: boolean({ default: true, allowNo: true, description: 'Wait until indexing has finished.' }),
    'recognize-again': boolean({ description: 'Recognise images and scans again, after languages were added or removed.' }),
    cancel: boolean({ description: 'Cancel a running sync; indexed documents are kept.' }),
    quiet: boolean({ char: 'q', description: 'Print only errors on stderr.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeSync)
    const names = args.source ?? []
    if ((flags.all === true) === names.length > 0)
      throw new UsageError(
        flags.all ? '--all cannot be combined with names.' : 'A knowledge source is required.',
        'Specify one or more sources, or use --all.',
      )
    const display = this.openDisplay(flags.quiet)
    const connection = await this.connect(flags)
    const ids = flags.all
      ? await listSourceIds(connection)
      : await Promise.all(names.map((name) => resolveResource(connection, knowledgeTopic, name)))
    if (ids.length === 0) return this.notify('No knowledge sources found. Add one: cadre knowledge add ./docs')
    if (flags.cancel) return this.#cancel(connection, ids)
    const sources: KnowledgeSource[] = []
    let failure: unknown
    try {
      const started: KnowledgeSource[] = []
      for (const id of ids) started.push(await startSync(connection, id, flags['recognize-again']))
      for (const source of started) {
        if (!flags.wait) sources.push(source)
        else
          try {
            const synced = await followSync(connection, source, display)
            sources.push(synced.source)
            // A cancelled sync is not what the user waited for.
            if (!flags.quiet || synced.source.status === 'pending')
              for (const line of [formatSyncOutcome(synced), ...(await formatNotices(connection, synced.source))]) display.log(line)
          } catch (error) {
            // With several sources, the others are still synced.
            if (started.length === 1) throw error
            failure = error
            display.log(`${source.name}: ${formatFailure(toFailure(error))}`)
          }
      }
    } finally {
      display.end()
    }
    if (this.getFormat(flags) !== 'table') await this.print({ data: ids.length === 1 ? (sources[0] ?? {}) : sources }, flags)
    else if (!flags.wait)
      this.notify(`The daemon is syncing ${sources.map(({ name }) => name).join(', ')}. Check the status: cadre knowledge list`)
    if (failure) throw new ReportedError(toFailure(failure).exitCode)
  }

  async #cancel(connection: Connection, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const { message } = await call(connection, knowledgeSourceRoutes.cancelSync, { params: { id } })
      this.notify(message)
    }
  }
}

async function listSourceIds(connection: Connection): Promise<string[]> {
  const { data } = await fetchList(connection, knowledgeSourceRoutes.list, {}, { limit: 100 }, true)
  return data.map(({ id }) => String(id))
}
