/** Brings knowledge sources up to date. */
import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { failures, followSync, outcome, type Source, startSync } from '../../src/cli/knowledge/follow-sync.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveOwn } from '../../src/cli/resources/resolve-references.ts'
import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { readList } from '../../src/cli/resources/verbs/list.ts'
import { failureOf, failureText, QuietFailure, UsageError } from '../../src/cli/terminal/errors.ts'
import { ProgressDisplay } from '../../src/cli/terminal/progress-bar.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { knowledgeSourceRoutes } from '../../src/contract/families/knowledge-sources.ts'

export default class KnowledgeSync extends CadreCommand {
  static override description =
    'Bring knowledge sources up to date.\n\nReads what is new or changed, drops what is gone, and follows the work with a bar. Ctrl-C leaves the work to the daemon; --cancel stops it, and the next synchronization goes on from there.'
  static override examples = [
    { command: 'cadre knowledge sync Handbook', description: 'One of them, and wait' },
    { command: 'cadre knowledge sync --all --no-wait', description: 'All of them, in the background' },
    { command: 'cadre knowledge sync Handbook --cancel', description: 'Stop what is under way' },
  ]
  static override args = {
    source: string({ ignoreStdin: true, multiple: true, description: 'Identifier or name of the knowledge source. May be repeated.' }),
  }
  static override flags = {
    all: boolean({ char: 'a', description: 'Every knowledge source.' }),
    wait: boolean({ default: true, allowNo: true, description: 'Wait until everything is indexed.' }),
    cancel: boolean({ description: 'Stop the synchronization that is under way; what it has done stays.' }),
    quiet: boolean({ char: 'q', description: 'No progress.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeSync)
    const names = args.source ?? []
    if ((flags.all === true) === names.length > 0)
      throw new UsageError(flags.all ? '--all is every source: name none.' : 'Which knowledge source?', 'Name one or more, or add --all.')
    const connection = await this.connect(flags)
    const ids = flags.all
      ? await everySource(connection)
      : await Promise.all(names.map((name) => resolveOwn(connection, knowledgeTopic, name)))
    if (ids.length === 0) return this.narrate('There are no knowledge sources yet. cadre knowledge add ./docs makes one.')
    if (flags.cancel) return this.#cancel(connection, ids)
    const display = new ProgressDisplay(flags.quiet)
    const sources: Source[] = []
    let broken: unknown
    try {
      const started: Source[] = []
      for (const id of ids) started.push(await startSync(connection, id))
      for (const source of started) {
        if (!flags.wait) sources.push(source)
        else
          try {
            const synced = await followSync({ ...connection, narrate: display.say }, source, display)
            sources.push(synced.source)
            for (const line of [outcome(synced), ...(await failures(connection, synced.source))]) display.say(line)
          } catch (error) {
            // The others go on; the only one fails as every command does.
            if (started.length === 1) throw error
            broken = error
            display.say(`${source.name}: ${failureText(failureOf(error))}`)
          }
      }
    } finally {
      display.end()
    }
    if (this.formatOf(flags) !== 'table') await this.print({ data: ids.length === 1 ? (sources[0] ?? {}) : sources }, flags)
    else if (!flags.wait)
      this.narrate(`The daemon synchronizes ${sources.map(({ name }) => name).join(', ')}. cadre knowledge list shows how it stands.`)
    if (broken) throw new QuietFailure(failureOf(broken).exitCode)
  }

  async #cancel(connection: Connection, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const { message } = await call(connection, knowledgeSourceRoutes.cancelSync, { params: { id } })
      this.narrate(message)
    }
  }
}

async function everySource(connection: Connection): Promise<string[]> {
  const { data } = await readList(connection, knowledgeSourceRoutes.list, {}, { limit: 100 }, true)
  return data.map(({ id }) => String(id))
}
