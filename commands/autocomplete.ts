/** Prints a script that teaches a shell the commands and flags. */
import { string } from '@oclif/core/args'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { completionScript, grammarOf, SHELLS, type Shell } from '../src/cli/oclif/shell-completion.ts'

export default class Autocomplete extends CadreCommand {
  static override description =
    'Print a completion script for a shell.\n\nAdd the line of your shell to its start file:\n\n  bash  source <(cadre autocomplete bash)\n  zsh   source <(cadre autocomplete zsh)\n  fish  cadre autocomplete fish | source'
  static override examples = [
    { command: "echo 'source <(cadre autocomplete bash)' >> ~/.bashrc", description: 'For bash, from the next shell on' },
    { command: 'cadre autocomplete fish > ~/.config/fish/completions/cadre.fish', description: 'For fish' },
  ]
  static override args = { shell: string({ required: true, ignoreStdin: true, options: [...SHELLS], description: 'Which shell.' }) }

  override async run(): Promise<void> {
    const { args } = await this.parse(Autocomplete)
    const { commands, topics } = this.config
    process.stdout.write(`${completionScript(args.shell as Shell, grammarOf(commands, topics))}\n`)
  }
}
