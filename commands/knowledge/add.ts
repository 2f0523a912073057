/** Adds folders, files, web pages and repositories: makes the source, indexes it, and makes a tool that answers from it. */
import { string } from '@oclif/core/args'
import { boolean, integer, option, string as text } from '@oclif/core/flags'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { type Added, account, add, nothingRead } from '../../src/cli/knowledge/add-source.ts'
import { ADDED_TYPES, additionsFor } from '../../src/cli/knowledge/plan-sources.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { QuietFailure } from '../../src/cli/terminal/errors.ts'
import { ProgressDisplay } from '../../src/cli/terminal/progress-bar.ts'
import { isHere } from '../../src/client/address.ts'

const many = { multiple: true, multipleNonGreedy: true } as const

export default class KnowledgeAdd extends CadreCommand {
  static override description =
    'Add documents: folders, files, web pages or git repositories.\n\nMakes the knowledge source, reads and indexes it, and makes a RAG tool of the same name, so that questions can be asked at once. A source of the same name and place is brought up to date instead. A folder, address or repository is read where it is, and read again by cadre knowledge sync; files are sent to the service, and so are folders when it runs on another machine. Ctrl-C leaves the work to the daemon.'
  static override examples = [
    { command: 'cadre knowledge add ./handbook', description: 'A folder, named after itself' },
    {
      command: "cadre knowledge add ./src --name Code --include '**/*.ts' --watch",
      description: 'Some of its files, followed as they change',
    },
    { command: 'cadre knowledge add leave.md travel.pdf --name Policies', description: 'A few files' },
    {
      command: "cadre knowledge add https://example.com/manual --site --depth 2 --schedule '0 3 * * *'",
      description: 'A web site, read again every night',
    },
    {
      command: 'cadre knowledge add http://localhost:8000/manual --allow-private-network',
      description: 'A page of a server on this machine',
    },
    { command: 'cadre knowledge add https://example.com/team/project.git', description: 'A git repository' },
    { command: 'cadre knowledge add https://example.com/team/private.git --token env:GIT_TOKEN', description: 'One that wants a login' },
  ]
  static override args = {
    target: string({
      required: true,
      multiple: true,
      ignoreStdin: true,
      description: 'Folder, file, http(s) address or git address; may be repeated.',
    }),
  }
  static override flags = {
    name: text({ description: 'Name of the source and of its RAG tool; from the folder, file or address when left out.' }),
    type: option({ options: ADDED_TYPES })({
      description: 'What it is, where that cannot be seen from it.',
      helpValue: ADDED_TYPES.join('|'),
    }),
    include: text({ ...many, description: 'Only files whose path matches this glob; may be repeated.', helpValue: '<glob>' }),
    exclude: text({ ...many, description: 'No files whose path matches this glob; may be repeated.', helpValue: '<glob>' }),
    watch: boolean({ description: 'Pick up changes of the folder as they happen.' }),
    schedule: text({ description: 'Read it again by itself, as a cron expression of five fields.', helpValue: '<cron>' }),
    token: text({
      description: 'Token or password of a git repository at an https address; it is kept sealed.',
      helpValue: '<secret|@file|env:NAME|->',
    }),
    username: text({ description: 'User name to go with --token; git when left out, which most servers take.' }),
    site: boolean({ description: 'Read the pages that this one links to on its site, too.' }),
    depth: integer({ description: 'How many links deep a site is read.', min: 0, max: 10 }),
    'allow-private-network': boolean({
      description: 'Let pages and repositories be read that are inside the private network. Admins only.',
    }),
    send: boolean({ description: 'Send the files of folders instead of having the daemon read them.' }),
    tool: boolean({ default: true, allowNo: true, description: 'Make a RAG tool of the same name.' }),
    wait: boolean({ default: true, allowNo: true, description: 'Wait until everything is indexed.' }),
    quiet: boolean({ char: 'q', description: 'No progress.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeAdd)
    const token = flags.token === undefined ? undefined : await new InputReader().secret(flags.token, 'token')
    const plan = (send: boolean) => additionsFor(args.target, { ...flags, token, send })
    // Mistakes are told before a daemon is started for them.
    const local = await plan(flags.send)
    const display = new ProgressDisplay(flags.quiet)
    this.narrate = display.say
    const connection = await this.connect(flags)
    const additions = flags.send || isHere(connection.url) ? local : await plan(true)
    const added: Added[] = []
    try {
      for (const addition of additions) {
        const tool = flags.tool ? addition.name : undefined
        const one = await add(addition, { connection: { ...connection, narrate: display.say }, display, tool, wait: flags.wait })
        added.push(one)
        for (const line of await account(connection, one)) display.say(line)
      }
    } finally {
      display.end()
    }
    if (this.formatOf(flags) !== 'table')
      await this.print({ data: added.length === 1 ? (added[0]?.source ?? {}) : added.map(({ source }) => source) }, flags)
    if (added.some(({ source }) => nothingRead(source))) throw new QuietFailure()
  }
}
