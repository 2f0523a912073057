import { string } from '@oclif/core/args'
import { type SettingName, settingArgument, writeSetting } from '../../src/cli/daemon/config-settings.ts'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'

export default class ConfigSet extends CadreCommand {
  static override description = 'Change a setting.'
  static override examples = [
    { command: 'cadre config set output json', description: 'Print JSON by default' },
    { command: 'cadre config set default-model llama', description: 'Set the default model' },
    { command: 'cadre config set currency EUR', description: 'Show costs in euros; prices keep their numbers' },
    { command: 'cadre config set token - < token.txt', description: 'Set a token without leaving it in the shell history' },
  ]
  static override args = {
    name: settingArgument,
    value: string({ required: true, ignoreStdin: true, description: 'New value; - reads it from stdin.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigSet)
    const value = args.value === '-' ? await new InputReader().readSecret('-', args.name) : args.value
    await writeSetting(args.name as SettingName, value.trim(), {
      paths: this.paths,
      profile: flags.profile,
      connect: () => this.connect(flags),
    })
    this.notify(`Set ${args.name}${args.name.endsWith('token') ? '' : ` to ${value.trim()}`}.`)
  }
}
