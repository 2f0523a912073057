/** Changes one setting. */
import { string } from '@oclif/core/args'
import { SETTING_NAMES, type SettingName, writeSetting } from '../../src/cli/daemon/config-settings.ts'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'

export default class ConfigSet extends CadreCommand {
  static override description = 'Change one setting.'
  static override examples = [
    { command: 'cadre config set output json', description: 'JSON unless a flag says otherwise' },
    { command: 'cadre config set default-model llama', description: 'The model of agents that name none' },
    { command: 'cadre config set token - < token.txt', description: 'A token, without leaving it in the shell history' },
  ]
  static override args = {
    name: string({ required: true, ignoreStdin: true, options: SETTING_NAMES, description: 'Name of the setting.' }),
    value: string({ required: true, ignoreStdin: true, description: 'What to set it to; - reads stdin.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigSet)
    const value = args.value === '-' ? await new InputReader().secret('-', args.name) : args.value
    await writeSetting(args.name as SettingName, value.trim(), this.paths, () => this.connect(flags))
    this.narrate(`Set ${args.name}${args.name === 'token' ? '' : ` to ${value.trim()}`}.`)
  }
}
