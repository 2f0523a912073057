import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { type AddedSource, addSource, formatAddedSource, isUnreadable } from '../../src/cli/knowledge/add-source.ts'
import { planSources, sourceFlags } from '../../src/cli/knowledge/plan-sources.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { ReportedError } from '../../src/cli/terminal/failures/command-errors.ts'

export default class KnowledgeAdd extends CadreCommand {
  static override description =
    'Add folders, files, web pages or git repositories as knowledge.\n\n' +
    'Creates a knowledge source, indexes its documents and creates a RAG tool of the same name. If the source exists, it is synced ' +
    'instead. Changes of a folder are indexed as they happen.'
  static override examples = [
    { command: 'cadre knowledge add ./handbook', description: 'Add a folder' },
    {
      command: "cadre knowledge add ./src --name Code --include '**/*.ts' --no-watch",
      description: 'Add some files of a folder and index changes only by knowledge sync',
    },
    { command: 'cadre knowledge add leave.md travel.pdf --name Policies', description: 'Upload files' },
    {
      command: "cadre knowledge add https://example.com/manual --site --depth 2 --schedule '0 3 * * *'",
      description: 'Add a web site and sync it every night',
    },
    {
      command: 'cadre knowledge add http://localhost:8000/manual --allow-private-network',
      description: 'Add a page from a server on this machine',
    },
    { command: 'cadre knowledge add https://example.com/team/project.git', description: 'Add a git repository' },
    {
      command: 'cadre knowledge add https://example.com/team/private.git --token env:GIT_TOKEN',
      description: 'Add a private git repository',
    },
  ]
  static override args = {
    target: string({
      required: true,
      multiple: true,
      ignoreStdin: true,
      description: 'Folder, file, URL or git repository. Repeatable.',
    }),
  }
  static override flags = {
    ...sourceFlags,
    tool: boolean({ default: true, allowNo: true, description: 'Create a RAG tool of the same name.' }),
    wait: boolean({ default: true, allowNo: true, description: 'Wait until indexing has finished.' }),
    quiet: boolean({ char: 'q', description: 'Print only errors on stderr.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeAdd)
    const token = flags.token === undefined ? undefined : await new InputReader().readSecret(flags.token, 'token')
    const plan = (send: boolean) => planSources(args.target, { ...flags, token, send })
    // Validated before connecting, so that a usage error does not start a daemon.
    const local = await plan(flags.send)
    const display = this.openDisplay(flags.quiet)
    const connection = await this.connect(flags)
    const sources = flags.send || connection.isSameMachine ? local : await plan(true)
    const added: AddedSource[] = []
    try {
      for (const source of sources) {
        const tool = flags.tool ? source.name : undefined
        const addedSource = await addSource(source, { connection, display, tool, wait: flags.wait })
        added.push(addedSource)
        if (!flags.quiet || isUnreadable(addedSource.source))
          for (const line of await formatAddedSource(connection, addedSource)) display.log(line)
      }
    } finally {
      display.end()
    }
    await this.printUnlessTable(added.length === 1 ? (added[0]?.source ?? {}) : added.map(({ source }) => source), flags)
    if (added.some(({ source }) => isUnreadable(source))) throw new ReportedError()
  }
}
