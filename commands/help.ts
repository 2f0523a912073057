/** Shows help, for those who type the word instead of the flag. */
import { string } from '@oclif/core/args'
import { loadHelpClass } from '@oclif/core/help'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'

export default class HelpCommand extends CadreCommand {
  static override description = 'Show help for a topic or a command.'
  static override examples = [{ command: 'cadre help agents create', description: 'The same as cadre agents create --help' }]
  static override args = { command: string({ multiple: true, ignoreStdin: true, description: 'Words of the topic or command.' }) }

  override async run(): Promise<void> {
    const { args } = await this.parse(HelpCommand)
    const Help = await loadHelpClass(this.config)
    await new Help(this.config, {}).showHelp(args.command ?? [])
  }
}
