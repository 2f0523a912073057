import { string } from '@oclif/core/args'
import { loadHelpClass } from '@oclif/core/help'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { suggestCommand } from '../src/cli/oclif/command-not-found.ts'

export default class HelpCommand extends CadreCommand {
  static override description = 'Show help for a topic or command.'
  static override examples = [{ command: 'cadre help agents create', description: 'Show help for cadre agents create' }]
  static override args = { command: string({ multiple: true, ignoreStdin: true, description: 'Topic or command.' }) }

  override async run(): Promise<void> {
    const { args } = await this.parse(HelpCommand)
    const Help = await loadHelpClass(this.config)
    const words = args.command ?? []
    await new Help(this.config, {}).showHelp(words).catch((error: Error) => {
      if (!/not found/.test(error.message)) throw error
      return suggestCommand({ id: words.join(':'), config: this.config })
    })
  }
}
