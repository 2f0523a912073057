import { clearSetting, type SettingName, settingArgument } from '../../src/cli/daemon/config-settings.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'

export default class ConfigUnset extends CadreCommand {
  static override description = 'Remove a setting and restore its default.'
  static override examples = [{ command: 'cadre config unset url', description: 'Use the local daemon again' }]
  static override args = { name: settingArgument }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigUnset)
    await clearSetting(args.name as SettingName, { paths: this.paths, profile: flags.profile, connect: () => this.connect(flags) })
    this.notify(`Removed ${args.name}.`)
  }
}
