import { string } from '@oclif/core/args'
import { getCompletionScript, SHELLS, type Shell } from '../src/cli/completion/scripts.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'

export default class Autocomplete extends CadreCommand {
  static override description =
    'Print a shell completion script.\n\n' +
    'Completes commands, flags and their values, and the names of agents and other resources while the daemon is running. Add the ' +
    'line for your shell to its startup file:\n\n  bash  source <(cadre autocomplete bash)\n  zsh   source <(cadre autocomplete ' +
    'zsh)\n  fish  cadre autocomplete fish | source'
  static override examples = [
    { command: "echo 'source <(cadre autocomplete bash)' >> ~/.bashrc", description: 'Enable completion in bash' },
    { command: 'cadre autocomplete fish > ~/.config/fish/completions/cadre.fish', description: 'Enable completion in fish' },
  ]
  static override args = {
    shell: string({ required: true, ignoreStdin: true, options: [...SHELLS], description: 'Shell to complete in.' }),
  }

  override async run(): Promise<void> {
    const { args } = await this.parse(Autocomplete)
    process.stdout.write(`${getCompletionScript(args.shell as Shell)}\n`)
  }
}
