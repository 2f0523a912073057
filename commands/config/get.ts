import { readSetting, type SettingName, settingArgument } from '../../src/cli/daemon/config-settings.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { ReportedError } from '../../src/cli/terminal/failures/command-errors.ts'
import { EXIT } from '../../src/cli/terminal/failures/exit-codes.ts'

export default class ConfigGet extends CadreCommand {
  static override description = 'Print a setting.\n\nExits with 3 if it is not set.'
  static override examples = [
    { command: 'cadre config get url', description: 'Print the service address' },
    { command: 'cadre config get default-model', description: 'Print the default model' },
  ]
  static override args = { name: settingArgument }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigGet)
    const value = await readSetting(args.name as SettingName, {
      paths: this.paths,
      profile: flags.profile,
      connect: () => this.connect(flags),
    })
    if (this.getFormat(flags) !== 'table') await this.print({ data: { [args.name]: value ?? null } }, flags)
    else if (value !== undefined) process.stdout.write(`${value}\n`)
    if (value !== undefined) return
    this.notify(`${args.name} is not set.`)
    throw new ReportedError(EXIT.notFound)
  }
}
